// How clients and repositories share slots, and how clients with the same request share one answer.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { loadConfig } from '../../src/config.js'
import { slotCounts, takeSlot } from '../../src/git/process/slots.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { spoolRequest } from '../../src/git/transport/request-spool.js'
import { uploadPack } from '../../src/git/transport/transport.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'
import { git, repositoryWith } from './history.js'

const home = mkdtempSync(join(tmpdir(), 'gitstead-sharing-'))
mkdirSync(join(home, 'tmp'))
t.teardown(async () => {
  await closeGitProcesses()
  rmSync(home, { recursive: true })
})

/** More than all limits of these tests together, on any machine. */
const MEMORY = 64 * 1024 ** 3
const SMALL = { memory: MEMORY, max_processes: 4, max_processes_per_repository: 4, max_waiting: 8 }
const long = (client: string, repository: string) => takeSlot({ long: true, client, repository })
const settled = async (promise: Promise<unknown>) => {
  let done = false
  void promise.then(
    () => (done = true),
    () => (done = true)
  )
  for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
  return done
}

t.test('a client that has slots never gets the last one', async t => {
  loadConfig({ home, git: { memory: MEMORY, max_processes: 16, max_processes_per_repository: 4 } })
  const greedy = Array.from({ length: 20 }, (_, at) => long('greedy', `/repository-${at}`))
  t.equal(slotCounts().running, 6, 'a single client gets half of the slots for long processes')
  const releases = [await long('second', '/repository-0'), await long('third', '/repository-0')]
  t.equal(slotCounts().running, 8, 'others start at once')
  const waiting = long('fourth', '/repository-0')
  t.notOk(await settled(waiting), 'but one repository has its own limit')
  for (const release of releases) release()
  ;(await waiting)()
  for (const slot of greedy) (await slot)()
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

t.test('a free slot goes to the client that has the fewest', async t => {
  loadConfig({ home, git: SMALL })
  const order: string[] = []
  const held = [await long('a', '/1'), await long('a', '/2'), await long('b', '/3')]
  const come = (client: string, repository: string) =>
    long(client, repository).then(release => {
      order.push(client)
      return release
    })
  const coming = [come('a', '/4'), come('b', '/4'), come('c', '/4')]
  for (const release of held.slice(0, 1)) release()
  await until('one has begun', () => order.length === 1)
  t.same(order, ['c'])
  for (const release of held.slice(1)) release()
  for (const slot of coming) (await slot)()
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

t.test('one repository leaves short slots to others, which start first', async t => {
  loadConfig({ home, git: SMALL })
  const short = (repository: string) => takeSlot({ repository })
  const held = [await short('/1'), await short('/1')]
  const order: string[] = []
  const come = (repository: string) =>
    short(repository).then(release => {
      order.push(repository)
      release()
    })
  const third = come('/1')
  t.notOk(await settled(third), 'one repository gets half of them')
  held.push(await short('/2'), await short('/3'))
  const others = [come('/2'), come('/4')]
  held.pop()?.()
  await until('one has begun', () => order.length > 0)
  t.equal(order[0], '/4')
  for (const release of held) release()
  await Promise.all([third, ...others])
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

t.test('a client does not fill the queue', async t => {
  loadConfig({ home, git: SMALL })
  const held = [await long('a', '/1'), await long('a', '/2'), await long('b', '/3')]
  const waiting = Array.from({ length: 4 }, () => long('a', '/4'))
  await t.rejects(long('a', '/4'), { name: 'Unavailable' })
  const other = long('c', '/4')
  t.equal(slotCounts().waiting, 5)
  for (const release of held) release()
  for (const slot of [...waiting, other]) (await slot)()
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

t.test('processes whose limits do not fit into the memory wait, and short ones have a separate share', async t => {
  const MIB = 1024 * 1024
  loadConfig({ home, git: { memory_limit: 128 * MIB, memory: 1200 * MIB, max_processes: 16 } })
  const first = [await long('a', '/1'), await long('b', '/2')]
  const third = long('c', '/3')
  t.notOk(await settled(third), 'two with a child each take seven sixteenths of the memory')
  const short = await takeSlot({ repository: '/4' })
  const other = takeSlot({ repository: '/4' })
  t.notOk(await settled(other), 'one short process takes an eighth')
  short()
  ;(await other)()
  for (const release of first) release()
  ;(await third)()
  t.same(slotCounts(), { running: 0, waiting: 0 })
  loadConfig({ home, git: { memory: 1 } })
  ;(await long('a', '/1'))()
  ;(await takeSlot({}))()
})

const line = (text: string) => pktLine(`${text}\n`)

function cloneRequest(id: string, agent = 'git/2'): Buffer {
  const first = [line('command=fetch'), pktLine(`agent=${agent}`), Buffer.from('0001')]
  return Buffer.concat([...first, line('ofs-delta'), line('no-progress'), line(`want ${id}`), line('done'), FLUSH])
}

async function ask(repository: string, request: Buffer): Promise<Readable> {
  const input = await spoolRequest(Readable.from([request]), 65_536, 'too large')
  const output = await uploadPack(repository, input, { protocol: 'version=2', client: 'address 1' })
  input.release()
  return Readable.from(output)
}

t.test('identical clones share one answer until a ref moves', async t => {
  const repository = await repositoryWith(t, 60)
  loadConfig({ home })
  const request = cloneRequest(git(repository, ['rev-parse', 'master']))
  const asked = Promise.all(Array.from({ length: 20 }, () => ask(repository, request)))
  const answers = await Promise.all((await asked).map(output => buffer(output)))
  const [first] = answers
  t.ok(first?.includes('PACK'))
  for (const answer of answers) t.ok(first?.equals(answer))
  git(repository, ['update-ref', 'refs/heads/later', 'side'])
  const moved = await buffer(await ask(repository, request))
  t.ok(moved.includes('PACK'))
  appendFileSync(`${repository}/config`, '[broken\n')
  t.ok(moved.equals(await buffer(await ask(repository, request))), 'without a process')
  t.ok(moved.length < 65_536)
  const input = await spoolRequest(Readable.from([request]), 65_536, 'too large')
  t.same(await uploadPack(repository, input, { protocol: 'version=2' }), [moved], 'a short one in one piece')
  await t.rejects(ask(repository, cloneRequest('b'.repeat(40))), { name: 'GitFailure' }, 'git would fail')
})

t.test('a client that leaves does not end the answer of the others', async t => {
  const repository = await repositoryWith(t, 60)
  loadConfig({ home })
  const request = cloneRequest(git(repository, ['rev-parse', 'master']))
  const [first, second] = await Promise.all([ask(repository, request), ask(repository, request)])
  first.destroy()
  const whole = await buffer(second)
  t.ok(whole.includes('PACK'))
  t.ok(whole.subarray(-4).equals(FLUSH), 'until its end')
  t.ok(whole.equals(await buffer(await ask(repository, request))))
})
