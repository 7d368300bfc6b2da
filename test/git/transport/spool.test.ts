import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { loadConfig } from '../../../src/config.js'
import { spoolRequest } from '../../../src/git/transport/request-spool.js'
import { Spool, spooledBytes } from '../../../src/git/transport/spool.js'
import t, { type Test } from '../../helpers/tap.js'
import { until } from '../../helpers/until.js'

function home(t: Test, git = {}): string {
  const home = t.testdir({ tmp: {} })
  loadConfig({ home, git })
  return home
}

const KB = 1024
const parts = (count: number) => Array.from({ length: count }, () => randomBytes(10 * KB))

async function fill(spool: Spool, chunks: readonly Buffer[]): Promise<void> {
  for (const chunk of chunks) await spool.write(chunk)
  spool.end()
}

t.test('a writer does not wait for its reader, and the reader gets everything', async t => {
  const folder = home(t)
  for (const keep of [false, true]) {
    const spool = new Spool({ memory: 32 * KB, keep })
    const stream = spool.read()
    const chunks = parts(50)
    await fill(spool, chunks)
    t.ok(spooledBytes() > 400 * KB, 'bytes that do not fit in memory are in a file')
    t.same(readdirSync(join(folder, 'tmp')), [], 'which has no name')
    t.ok((await buffer(stream)).equals(Buffer.concat(chunks)))
    spool.release()
    await until('the file is closed', () => spooledBytes() === 0)
  }
})

t.test('readers of different speed get the same bytes, including one that starts last', async t => {
  home(t)
  const spool = new Spool({ memory: 32 * KB, keep: true })
  const chunks = parts(40)
  const first = buffer(spool.read())
  const slow = spool.read()
  await fill(spool, chunks)
  t.ok((await first).equals(Buffer.concat(chunks)))
  t.ok((await buffer(spool.read())).equals(Buffer.concat(chunks)))
  t.ok(spool.isWhole())
  spool.release()
  t.ok((await buffer(slow)).equals(Buffer.concat(chunks)), 'a reader that has begun reads to the end')
  await until('the file is closed', () => spooledBytes() === 0)
})

t.test('nothing is stored while a reader keeps up', async t => {
  home(t)
  const spool = new Spool({ memory: 32 * KB, keep: false })
  const read = buffer(spool.read())
  const chunks = parts(40)
  let most = 0
  for (const chunk of chunks) {
    await spool.write(chunk)
    await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, spooledBytes())
  }
  spool.end()
  t.ok((await read).equals(Buffer.concat(chunks)))
  t.equal(most, 0)
})

t.test('without disk space the writer waits for its readers', async t => {
  home(t, { max_spooled: 50 * KB })
  for (const keep of [false, true]) {
    const spool = new Spool({ memory: 32 * KB, keep })
    const chunks = parts(60)
    const streams = [spool.read(), spool.read()]
    const written = fill(spool, chunks)
    for (const read of await Promise.all(streams.map(stream => buffer(stream)))) {
      t.ok(read.equals(Buffer.concat(chunks)))
    }
    await written
    t.notOk(spool.isWhole())
    t.equal(spooledBytes(), 0)
  }
  await t.rejects(spoolRequest(Readable.from(parts(20)), 1000 * KB, 'too large'), { name: 'Unavailable' })
  await until('its file is closed', () => spooledBytes() === 0)
})

t.test('the work ends when the last reader leaves', async t => {
  home(t)
  const spool = new Spool({ memory: 32 * KB, keep: true })
  let unused = 0
  spool.onUnused(() => unused++)
  const streams = [spool.read(), spool.read()]
  for (const chunk of parts(20)) await spool.write(chunk)
  streams[0]?.destroy()
  await new Promise(resolve => setImmediate(resolve))
  t.equal(unused, 0)
  streams[1]?.destroy()
  await until('the work ends', () => unused === 1)
  await spool.write(randomBytes(100 * KB))
  t.equal(spooledBytes(), 0)
  t.notOk(spool.isWhole())
})

t.test('all readers see a failure, and a large answer is not kept', async t => {
  home(t)
  const failing = new Spool({ memory: 32 * KB, keep: true })
  const reading = buffer(failing.read())
  failing.fail(new Error('git has ended'))
  await t.rejects(reading, { message: 'git has ended' })
  await t.rejects(failing.begun(), { message: 'git has ended' })
  const large = new Spool({ memory: 32 * KB, keep: true, mostKept: 100 * KB })
  const read = buffer(large.read())
  const chunks = parts(20)
  await fill(large, chunks)
  t.ok((await read).equals(Buffer.concat(chunks)))
  t.notOk(large.isWhole())
})

t.test('a request is read to its end, up to a limit', async t => {
  const folder = home(t)
  const single = await spoolRequest(Readable.from(Array.from('abcdef', letter => Buffer.from(letter))), 6, 'too large')
  t.equal(String(single.small()), 'abcdef')
  single.release()
  const large = await spoolRequest(Readable.from(parts(20)), 1000 * KB, 'too large')
  t.equal(large.small(), null)
  t.equal((await buffer(large.read())).length, 200 * KB)
  large.release()
  await t.rejects(spoolRequest(Readable.from(parts(20)), 100 * KB, 'at most 100'), { message: 'at most 100' })
  async function* cut() {
    yield randomBytes(100 * KB)
    throw new Error('aborted')
  }
  await t.rejects(spoolRequest(cut(), 1000 * KB, 'too large'), { message: 'aborted' })
  await until('every file is closed', () => spooledBytes() === 0)
  mkdirSync(join(folder, 'tmp'), { recursive: true })
})

t.test('small parts are read in larger pieces, and large parts are not copied', async t => {
  home(t)
  const spool = new Spool({ memory: 1024 * KB, keep: true })
  const chunks = [...parts(50), randomBytes(100 * KB), ...parts(1)]
  await fill(spool, chunks)
  const pieces: Buffer[] = []
  await once(
    spool.read().on('data', (piece: Buffer) => pieces.push(piece)),
    'end'
  )
  t.ok(Buffer.concat(pieces).equals(Buffer.concat(chunks)))
  t.same(
    pieces.map(({ length }) => length / KB),
    [60, 60, 60, 60, 60, 60, 60, 60, 20, 100, 10]
  )
  spool.release()
})
