// A large file in LFS passes a real server in constant memory, up and down.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t from 'tap'
import { makeUser, startAppliance } from './appliance.js'

/** Bytes: 1 GB, unless GITSTEAD_TEST_LARGE says otherwise. */
const SIZE = Number(process.env.GITSTEAD_TEST_LARGE ?? 1_000_000_000)
/** Bytes of memory that the server may need more than before. */
const ROOM = 100_000_000
const BLOCK = Buffer.alloc(1_000_000)

const home = join(t.testdir(), 'home')
const environment = { GITSTEAD_SSH_ENABLED: 'false' }
const appliance = await startAppliance({ home, environment })
t.teardown(() => appliance.stop())
const ada = await makeUser(home, 'ada')
const headers = { authorization: `Basic ${Buffer.from(`x:${ada.private_token}`).toString('base64')}` }
await fetch(`${appliance.url}/api/v3/projects`, {
  method: 'POST',
  headers: { 'private-token': ada.private_token, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'large' })
})

/** Yields the bytes of the file: blocks that begin with their numbers. */
function* content(): Generator<Buffer> {
  for (let at = 0; at < SIZE; at += BLOCK.length) {
    const block = Buffer.from(BLOCK.subarray(0, Math.min(BLOCK.length, SIZE - at)))
    block.writeUInt32LE(at / BLOCK.length)
    yield block
  }
}

/** The most memory that the server has used so far, in bytes. */
function peak(): number {
  const status = readFileSync(`/proc/${appliance.processes().server}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

t.test(`${SIZE} bytes`, async t => {
  const hash = createHash('sha256')
  for (const block of content()) hash.update(block)
  const oid = hash.digest('hex')
  const url = `${appliance.url}/ada/large.git/info/lfs/objects/${oid}`
  const before = peak()
  let started = performance.now()
  const sent = request(`${url}?size=${SIZE}`, { method: 'PUT', headers: { ...headers, 'content-length': SIZE } })
  const answered = new Promise<number | undefined>(resolve =>
    sent.once('response', answer => resolve(answer.resume().statusCode))
  )
  await pipeline(Readable.from(content(), { objectMode: false }), sent)
  t.equal(await answered, 200)
  t.comment(`sent in ${Math.round(performance.now() - started)} ms`)

  started = performance.now()
  const back = createHash('sha256')
  let size = 0
  const answer = await fetch(url, { headers })
  for await (const chunk of answer.body as unknown as AsyncIterable<Buffer>) {
    back.update(chunk)
    size += chunk.length
  }
  t.equal(size, SIZE)
  t.equal(back.digest('hex'), oid)
  t.comment(`received in ${Math.round(performance.now() - started)} ms`)
  t.comment(`the server used ${Math.round(before / 1e6)} MB before, and at most ${Math.round(peak() / 1e6)} MB`)
  t.ok(peak() - before < ROOM, `${peak()} instead of ${before}`)
})
