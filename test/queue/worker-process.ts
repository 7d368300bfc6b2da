// A worker of one queue in a separate process, for tests that kill it. It records the jobs that it runs.
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute } from '../../src/db/connect/sql.js'
import type { ClaimedJob } from '../../src/queue/claim.js'
import { Tally } from '../../src/queue/history.js'
import { registerProcess, renewProcess, unregisterProcess } from '../../src/queue/processes.js'
import { closeWake, listenForWake } from '../../src/queue/wake.js'
import { Loop } from '../../src/worker/loop.js'

const pollInterval = Number(process.env.TEST_POLL_INTERVAL ?? 50)
const processId = await registerProcess({ queues: ['default'], concurrency: 10 })
const tally = new Tally(processId)
const ended = (count: number, failed: number) => tally.add('default', count, failed)
const loop = new Loop({ queue: 'default', processId, concurrency: 10, pollInterval, run, ended })
const stopListening = process.env.TEST_DEAF ? () => undefined : await listenForWake(processId, () => loop.wake())

process.on('message', async message => {
  if (message === 'renew') process.send?.({ renewed: await renewProcess(processId) })
  if (message === 'stop') {
    stopListening()
    await loop.stop(2000)
    await tally.write()
    await unregisterProcess(processId)
    closeWake()
    await closeDatabase()
    process.disconnect?.()
  }
})
loop.wake()
process.send?.({ processId })

/**
 * The id in the payload determines what happens: `kill` ends this process, `halt` stops it with a signal, `fail`
 * throws, `wait` never ends.
 */
async function run({ id, payload }: ClaimedJob): Promise<void> {
  const { id: key } = payload as { id: string }
  if (key === 'kill') process.kill(process.pid, 'SIGKILL')
  await execute('insert into ran (job_id, process_id, pid, at) values (?, ?, ?, ?)', [
    id,
    processId,
    process.pid,
    new Date()
  ])
  if (key === 'halt') process.kill(process.pid, 'SIGSTOP')
  if (key === 'wait') await new Promise(() => undefined)
  if (key === 'fail') throw new Error('asked to')
}
