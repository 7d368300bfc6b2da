// Git begins with a push while it is still arriving, and holds nothing that others need.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { config, loadConfig } from '../../src/config.js'
import { pushProcessorLimit } from '../../src/git/process/limits.js'
import { startGit } from '../../src/git/process/run.js'
import { slotCounts, takeSlot } from '../../src/git/process/slots.js'
import { refValue, ZERO } from '../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { readPushCommands, receivePack } from '../../src/git/transport/receive.js'
import { giveHeadStart } from '../../src/git/transport/receive-process.js'
import { type Arriving, readArriving } from '../../src/git/transport/request-spool.js'
import { spooledBytes } from '../../src/git/transport/spool.js'
import { BLOB, idOf, packOf } from '../helpers/packs.js'
import t, { type Test } from '../helpers/tap.js'
import { until } from '../helpers/until.js'
import { repositoryWith } from './history.js'

const home = mkdtempSync(join(tmpdir(), 'gitstead-head-start-'))
mkdirSync(join(home, 'tmp'))
t.teardown(async () => {
  await closeGitProcesses()
  rmSync(home, { recursive: true })
})
t.beforeEach(() => void loadConfig({ home }))

const MIB = 1024 * 1024
/** A busy machine may look like a slow client, so only the test of a slow client checks the pace. */
const NEVER = 600_000
const REF = 'refs/tags/x'
const content = randomBytes(6 * MIB)
const id = idOf('blob', content)
const pack = packOf([{ type: BLOB, content }])

/** Begins a push whose bytes arrive when the test sends them. */
async function begin(t: Test, { value = id, look = NEVER, admit = async () => {} } = {}) {
  const repository = await repositoryWith(t)
  const input = new PassThrough()
  input.write(Buffer.concat([pktLine(`${ZERO} ${value} ${REF}\0 report-status\n`), FLUSH]))
  const request = await readPushCommands(input)
  const arriving: Arriving = readArriving(request.rest, 100 * MIB, 'too large')
  const { spool } = arriving
  /** The value of the ref just before git got the first byte. */
  const admissions: (string | null)[] = []
  const headStart = giveHeadStart(repository, {
    spool,
    commands: request.commands,
    client: 'user 1',
    look,
    admit: async () => {
      await admit()
      admissions.push(await refValue(repository, REF))
    }
  })
  const send = (from: number, to = pack.length) => void input.write(pack.subarray(from, to))
  const come = async () => {
    input.end()
    await arriving.whole
    return await headStart.take()
  }
  /** Lets git finish the push, as the server does. */
  const finish = async (coming = come()) => {
    const begun = await coming
    const { output, done } = await receivePack(repository, {
      ...request,
      input: () => spool.read(),
      size: spool.size,
      begun,
      beforeReport: async () => []
    })
    spool.release()
    const answer = String(await buffer(output))
    return { early: begun !== null, answer, results: await done, value: await refValue(repository, REF) }
  }
  return { repository, input, arriving, headStart, admissions, send, come, finish }
}

const accepted = { answer: /unpack ok/, results: [{ ref: REF, ok: true, reason: null }], value: id }
const nothingLeft = async (repository: string) => {
  await until('git has ended', () => slotCounts().running === 0)
  return readdirSync(join(repository, 'objects')).filter(name => name.startsWith('tmp_'))
}

t.test('git works on a push that is still arriving, and changes refs when everything has arrived', async t => {
  const { repository, send, finish, admissions } = await begin(t)
  t.equal(slotCounts().running, 0)
  send(0, 3 * MIB)
  await until('git has begun', () => slotCounts().running === 1)
  await until('its changes are recorded', () => admissions.length === 1)
  t.same(admissions, [null], 'before any ref has changed')
  send(3 * MIB)
  t.match(await finish(), { early: true, ...accepted })
  t.same(await nothingLeft(repository), [])
  await until('the file is closed', () => spooledBytes() === 0)
})

t.test('a client that becomes slow loses its slot, and its push is handled when it has arrived', async t => {
  const { repository, send, finish } = await begin(t, { look: 500 })
  send(0, 3 * MIB)
  await until('git has begun', () => slotCounts().running === 1)
  t.same(await nothingLeft(repository), [])
  send(3 * MIB)
  t.match(await finish(), { early: false, ...accepted })
  t.same(await nothingLeft(repository), [])
})

t.test('a caller that waits for the slot gets it at once', async t => {
  loadConfig({ home, git: { max_processes: 1 } })
  const { send, finish } = await begin(t)
  send(0, 3 * MIB)
  await until('git has begun', () => slotCounts().running === 1)
  const release = await takeSlot({ long: true, client: 'user 2', repository: '/other' })
  t.same(slotCounts(), { running: 1, waiting: 0 })
  send(3 * MIB)
  const done = finish()
  await until('the push waits for its turn', () => slotCounts().waiting === 1)
  release()
  t.match(await done, { early: false, ...accepted })
})

t.test('a push that has arrived is not ended for others', async t => {
  loadConfig({ home, git: { max_processes: 1 } })
  const { send, come, finish } = await begin(t)
  send(0, 3 * MIB)
  await until('git has begun', () => slotCounts().running === 1)
  send(3 * MIB)
  const begun = await come()
  t.ok(begun)
  const next = takeSlot({ long: true, client: 'user 2', repository: '/other' })
  t.match(await finish(Promise.resolve(begun)), { early: true, ...accepted })
  ;(await next)()
})

t.test('no slot is taken when none is free, for deletions, or for a small push', async t => {
  loadConfig({ home, git: { max_processes: 1 } })
  const busy = await begin(t)
  const release = await takeSlot({ repository: '/other' })
  busy.send(0)
  const { arriving } = busy
  await until('it has arrived', () => arriving.spool.size > pack.length)
  t.same(slotCounts(), { running: 1, waiting: 0 })
  release()
  t.match(await busy.finish(), { early: false, ...accepted })
  const deletion = await begin(t, { value: ZERO })
  deletion.send(0)
  deletion.input.end()
  await deletion.arriving.whole
  t.equal(await deletion.headStart.take(), null)
  deletion.arriving.spool.release()
  const small = await begin(t)
  small.send(0, 1000)
  small.input.end()
  await small.arriving.whole
  t.equal(await small.headStart.take(), null)
  small.arriving.spool.release()
})

t.test('git ends when a push is cut off or refused, and nothing is left', async t => {
  const cut = await begin(t)
  cut.send(0, 3 * MIB)
  await until('git has begun', () => slotCounts().running === 1)
  cut.input.destroy(new Error('the client has left'))
  await t.rejects(cut.arriving.whole, { message: 'the client has left' })
  t.same(await nothingLeft(cut.repository), [])
  t.equal(await cut.headStart.take(), null)
  const refused = await begin(t)
  refused.send(0, 3 * MIB)
  await until('git has begun', () => slotCounts().running === 1)
  refused.headStart.drop()
  t.same(await nothingLeft(refused.repository), [])
  refused.arriving.spool.release()
})

t.test('changes that git makes although the push is cut off are reported', async t => {
  // The pack ends, but the request continues.
  const { send, input, headStart, arriving, repository } = await begin(t)
  send(0)
  await until('git has changed the ref', async () => (await refValue(repository, REF)) === id)
  input.destroy(new Error('the client has left'))
  await t.rejects(arriving.whole, { message: 'the client has left' })
  headStart.drop()
  const begun = await headStart.take()
  t.ok(begun)
  const { done } = await receivePack(repository, {
    commands: [{ old: ZERO, new: id, ref: REF }],
    capabilities: ['report-status'],
    input: () => input,
    begun,
    beforeReport: async () => []
  })
  t.same(await done, [{ ref: REF, ok: true, reason: null }])
})

t.test('git gets nothing of a push whose changes cannot be recorded', async t => {
  const { send, input, headStart, arriving, repository } = await begin(t, {
    admit: async () => {
      throw new Error('the database is away')
    }
  })
  send(0)
  await until('it has arrived', () => arriving.spool.size > pack.length)
  input.end()
  await arriving.whole
  t.equal(await headStart.take(), null)
  t.same(await nothingLeft(repository), [])
  t.equal(await refValue(repository, REF), null)
  arriving.spool.release()
})

t.test('a push gets processor time according to its size', async t => {
  const most = config().git.processor_limit
  t.equal(pushProcessorLimit(16 * 1024), 61)
  t.equal(pushProcessorLimit(50 * MIB), 360)
  t.equal(pushProcessorLimit(1000 * MIB), most)
  const repository = await repositoryWith(t)
  const git = await startGit(['-c', 'alias.wait=!read line', 'wait'], { repository, processor: 500 })
  const child = await until('its child is running', () => childOf(git.pid))
  t.same([git.pid, child].map(processorLimit), ['500', '500'])
  await git.limitProcessor(70)
  t.same([git.pid, child].map(processorLimit), ['70', '70'])
  git.stdin.end()
  await git.done
  await git.limitProcessor(60)
})

const childOf = (pid: number | undefined) => Number(read(`/proc/${pid}/task/${pid}/children`).split(' ')[0])
const processorLimit = (pid: number | undefined) => /^Max cpu time +(\S+)/m.exec(read(`/proc/${pid}/limits`))?.[1]

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
