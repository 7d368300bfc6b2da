// Uploads over HTTP that are hashed while they arrive: small ones, and large ones in threads.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import t from 'tap'
import { TooLarge } from '../../src/errors.js'
import { type CopiedStream, copyStream } from '../../src/storage/files.js'
import { until } from '../helpers/until.js'

const LARGE = 70_000_000
const folder = t.testdir()
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const threads = () => readdirSync('/proc/self/task').length

type Outcome = CopiedStream | Error
const outcomes = new Map<string, Outcome>()
const server = createServer(async (asked, answer) => {
  const name = String(asked.url).slice(1)
  const handle = await open(join(folder, name), 'w')
  const outcome = await copyStream(asked, handle, LARGE).catch((error: Error) => error)
  await handle.close()
  outcomes.set(name, outcome)
  answer.end()
})
await once(server.listen(0, '127.0.0.1'), 'listening')
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})
const { port } = server.address() as AddressInfo

function begin(name: string, length: number | undefined) {
  const headers = length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length }
  const sending = request({ host: '127.0.0.1', port, method: 'PUT', path: `/${name}`, headers, agent: false })
  return sending.on('error', () => undefined)
}

async function upload(name: string, bytes: Buffer, length: number | undefined = bytes.length): Promise<Outcome> {
  const sending = begin(name, length)
  sending.end(bytes)
  const [answer] = await once(sending, 'response')
  answer.resume()
  return outcomes.get(name) as Outcome
}

const bytes = randomBytes(LARGE)
const small = bytes.subarray(0, 1_000_003)

t.test('small files, and those of unknown length, need no thread', async t => {
  t.same(await upload('small', small), { size: small.length, sha256: sha256(small) })
  t.same(readFileSync(join(folder, 'small')), small)
  t.same(await upload('empty', Buffer.alloc(0)), { size: 0, sha256: sha256(Buffer.alloc(0)) })
  const before = threads()
  t.same(await upload('unknown', small, undefined), { size: small.length, sha256: sha256(small) })
  const handle = await open(join(folder, 'stream'), 'w')
  const source = Readable.from([small.subarray(0, 10), small.subarray(10)])
  t.same(await copyStream(source, handle, LARGE), { size: small.length, sha256: sha256(small) })
  await handle.close()
  t.equal(threads(), before)
})

t.test('large files at the same time are hashed in threads, which end when they are idle', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const before = threads()
  const names = ['one', 'two', 'three', 'four', 'five', 'six']
  const wanted = sha256(bytes)
  const found = await Promise.all(names.map(name => upload(name, bytes)))
  for (const outcome of found) t.same(outcome, { size: LARGE, sha256: wanted })
  t.ok(readFileSync(join(folder, 'two')).equals(bytes))
  for (const name of names) rmSync(join(folder, name))
  t.ok(threads() > before)
  mock.timers.tick(9_999)
  t.ok(threads() > before)
  mock.timers.tick(1)
  mock.timers.reset()
  await until('the threads end', () => threads() === before)
})

t.test('a client that leaves, or sends too much, harms no other', async t => {
  const other = upload('whole', bytes)
  const leaving = begin('left', LARGE)
  leaving.write(bytes.subarray(0, 30_000_000))
  await until('it arrives', () => (statSync(join(folder, 'left'), { throwIfNoEntry: false })?.size ?? 0) > 10_000_000)
  leaving.destroy()
  await until('the server has noticed', () => outcomes.has('left'))
  t.match(outcomes.get('left'), { code: 'ECONNRESET' })
  t.same(await other, { size: LARGE, sha256: sha256(bytes) })
  const more = begin('more', LARGE + 1)
  more.end(Buffer.concat([bytes, Buffer.alloc(1)]))
  await until('it is refused', () => outcomes.has('more'))
  t.type(outcomes.get('more'), TooLarge)
  const again = randomBytes(LARGE)
  t.same(await upload('again', again), { size: LARGE, sha256: sha256(again) })
})
