import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { processEnded, processStatus, startOf } from '../../src/lib/process-status.js'
import t from '../helpers/tap.js'

t.test('a process has a status while it runs', async t => {
  const child = spawn('sleep', ['60'])
  const pid = child.pid ?? 0
  const started = startOf(pid)
  t.type(started, 'number')
  t.match(processStatus(pid), { state: /^[SRD]$/, isKernelThread: false, startedAt: started })
  t.equal(await processEnded(pid, started ?? 0, 10), false, 'the wait ends')
  t.equal(await processEnded(pid, (started ?? 0) - 1, 10), true, 'another process had this pid')
  child.kill('SIGKILL')
  t.equal(await processEnded(pid, started ?? 0, 10_000), true)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  t.equal(processStatus(pid), undefined)
  t.equal(startOf(pid), null)
})

t.test('processor time is counted in seconds', t => {
  const before = processStatus(process.pid)?.processorSeconds ?? Number.NaN
  for (const end = Date.now() + 100; Date.now() < end; );
  const used = (processStatus(process.pid)?.processorSeconds ?? Number.NaN) - before
  t.ok(used > 0 && used < 10, `${used}`)
  t.end()
})
