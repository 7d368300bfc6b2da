// Where a list of packets and a pack end, no matter in which pieces the bytes arrive.
import { createHash } from 'node:crypto'
import { FlushFinder, packetSource, readPush, upToFlush } from '../../../src/git/transport/packet-lists.js'
import { BadProtocol, FLUSH, pktLine } from '../../../src/git/transport/pkt-line.js'
import t from '../../helpers/tap.js'

async function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Never ends, like a client that keeps its side open. */
async function* withoutEnd(bytes: Buffer, size: number) {
  yield* pieces(bytes, size)
  await new Promise(() => {})
}

async function collect(input: AsyncIterable<Buffer>) {
  const found: Buffer[] = []
  for await (const chunk of input) found.push(chunk)
  return Buffer.concat(found)
}

const SIZES = [1, 2, 3, 4, 5, 7, 19, 20, 21, 64, 100_000]
const DELIMITER = Buffer.from('0001')
const pack = (size: number) => {
  const body = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x01'), Buffer.alloc(size, 'x0000')])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}
const [OLD, NEW, ZERO] = ['a'.repeat(40), 'b'.repeat(40), '0'.repeat(40)]
const command = (old: string, next: string, ref: string) => pktLine(`${old} ${next} ${ref}\0report-status\n`)

t.test('requests are split at their flushes', async t => {
  const one = Buffer.concat([pktLine('command=fetch\n'), DELIMITER, pktLine('0000 is no flush here\n'), FLUSH])
  const two = Buffer.concat([pktLine('command=ls-refs\n'), FLUSH])
  for (const size of SIZES) {
    const source = packetSource(pieces(Buffer.concat([one, two, FLUSH]), size))
    t.same(await collect(upToFlush(source)), one)
    t.same(await collect(upToFlush(source)), two)
    t.same(await collect(upToFlush(source)), FLUSH)
    t.same(await collect(upToFlush(source)), Buffer.alloc(0))
  }
})

t.test('a push ends with its pack, or with its commands when it only deletes', async t => {
  for (const size of SIZES) {
    for (const length of [0, 1, 15, 1000]) {
      const push = Buffer.concat([
        command(OLD, NEW, 'refs/heads/a'),
        command(OLD, ZERO, 'refs/heads/b'),
        FLUSH,
        pack(length)
      ])
      t.same(await collect((await readPush(withoutEnd(push, size))) ?? pieces(FLUSH, 1)), push, `${size} ${length}`)
    }
    const deletion = Buffer.concat([command(OLD, ZERO, 'refs/heads/b'), FLUSH])
    t.same(await collect((await readPush(withoutEnd(deletion, size))) ?? pieces(FLUSH, 1)), deletion)
    t.equal(await readPush(withoutEnd(FLUSH, size)), null)
    t.equal(await readPush(pieces(Buffer.alloc(0), size)), null)
  }
})

t.test('an incomplete request is never treated as complete', async t => {
  const push = Buffer.concat([command(OLD, NEW, 'refs/heads/a'), FLUSH, pack(1000)])
  for (const end of [3, 10, 100, push.length - 1]) {
    const whole = async () => collect((await readPush(pieces(push.subarray(0, end), 7))) ?? pieces(FLUSH, 1))
    await t.rejects(whole(), BadProtocol, String(end))
  }
})

t.test('bytes that are not packets are refused', async t => {
  for (const text of ['SSH-', '0003', 'ffff', '-001', ' 004']) {
    t.throws(() => new FlushFinder().take(Buffer.from(text)), BadProtocol, text)
  }
})
