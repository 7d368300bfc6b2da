import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { AT_ONCE, inflateElsewhere, inflateNow } from '../../../../src/git/objects/odb/inflate.js'
import t from '../../../helpers/tap.js'

t.test('one stream of zlib inflates all contents, also after damaged ones', async t => {
  const contents = [0, 1, 60, 2000, 30_000, AT_ONCE].map(size => randomBytes(size))
  for (const content of contents) {
    const compressed = deflateSync(content)
    const size = content.length
    const longer = Buffer.concat([compressed, randomBytes(500)])
    t.ok(inflateNow(longer, size).equals(content), `${size} bytes, and other bytes after them`)
    const damaged = Buffer.from(compressed)
    damaged.writeUInt8(255, 0)
    t.throws(() => inflateNow(damaged, size), { name: 'Damaged' }, 'invalid data')
    t.throws(() => inflateNow(damaged, size), { name: 'Damaged' }, 'the next ones')
    t.ok(inflateNow(compressed, size).equals(content), 'valid data after invalid data')
    if (size > 100)
      t.throws(() => inflateNow(compressed.subarray(0, -50), size), { name: 'Damaged' }, 'data that is cut off')
    if (size < AT_ONCE) t.throws(() => inflateNow(compressed, size + 1), { name: 'Damaged' }, 'a shorter content')
    if (size > 0) t.throws(() => inflateNow(compressed, size - 1), { name: 'Damaged' }, 'a longer content')
    if (size > 100) t.ok((await inflateElsewhere(longer, size)).equals(content))
  }
})
