// Files as streams that use their memory again: what arrives is right, for each kind of stream that takes it, and the file is closed.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { FileStream, openNumber } from '../../src/storage/file-stream.js'
import { openFilesIn } from '../helpers/open-files.js'

const bytes = randomBytes(5_000_003)
const whole = { start: 0, end: bytes.length - 1 }
const path = join(t.testdir(), 'file')
writeFileSync(path, bytes)
const opened = async (range = whole, of = path) => new FileStream(await openNumber(of), range, statSync(of).size)

/** Serves what `answer` sends. Returns a function that asks for it. */
async function serve(t: Test, answer: (response: ServerResponse) => unknown) {
  const server = createServer((_, response) => void answer(response))
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return async (method = 'GET') => {
    const request = get({ host: '127.0.0.1', port, agent: false, method })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return response
  }
}

t.test('an answer takes the whole file or a part, also when many do', async t => {
  const range = { start: 262_143, end: 1_000_000 }
  const ask = await serve(t, async response => (await opened(range)).pipe(response))
  const all = await serve(t, async response => (await opened()).pipe(response))
  t.ok((await buffer(await ask())).equals(bytes.subarray(range.start, range.end + 1)))
  const found = await Promise.all(Array.from({ length: 20 }, async () => buffer(await all())))
  t.ok(found.every(got => got.equals(bytes)))
  t.equal((await buffer(await all('HEAD'))).length, 0)
})

t.test('a slow client gets the same', async t => {
  const ask = await serve(t, async response => (await opened()).pipe(response))
  const got: Buffer[] = []
  for await (const chunk of await ask()) {
    got.push(Buffer.from(chunk))
    for (let turns = 0; turns < 20; turns++) await turn()
  }
  t.ok(Buffer.concat(got).equals(bytes))
})

t.test('other streams may keep what they take', async t => {
  const between = new PassThrough({ highWaterMark: bytes.length })
  const copied = buffer(between)
  await pipeline(await opened(), between)
  t.ok((await copied).equals(bytes))
  t.ok((await buffer(await opened())).equals(bytes))
  t.same(await buffer(await opened({ start: 10, end: 10 })), bytes.subarray(10, 11))
})

t.test('an answer stays open for its trailers', async t => {
  const ask = await serve(t, async response => {
    const stream = await opened()
    stream.pipe(response, { end: false })
    stream.once('end', () => response.end('more'))
  })
  t.ok((await buffer(await ask())).equals(Buffer.concat([bytes, Buffer.from('more')])))
})

t.test('the file is closed at its end, after a client has left, and when it ends early', async t => {
  const empty = join(t.testdir(), 'empty')
  writeFileSync(empty, '')
  t.same(await buffer(await opened({ start: 0, end: -1 }, empty)), Buffer.alloc(0))
  const streams: FileStream[] = []
  const ask = await serve(t, async response => {
    const stream = await opened()
    streams.push(stream)
    response.once('close', () => stream.destroy())
    stream.pipe(response)
  })
  await buffer(await ask())
  const left = await ask()
  left.destroy()
  for (const stream of streams) if (!stream.closed) await once(stream, 'close')
  t.same(openFilesIn(path), [])
  const short = join(t.testdir(), 'short')
  writeFileSync(short, bytes)
  const stream = await opened(whole, short)
  truncateSync(short, 10)
  t.same(await buffer(stream), bytes.subarray(0, 10))
})
