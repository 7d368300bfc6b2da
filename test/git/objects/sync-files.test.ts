import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { beCareful, files, note } from '../../../src/git/objects/sync-files.js'
import t from '../../helpers/tap.js'
import { until } from '../../helpers/until.js'

/** The calls as long as nothing forces another thread. A busy disk may send them to another thread for a second. */
const quick = () => until('calls are synchronous', () => (files() === files(1_000_000) ? undefined : files()))

t.test('both kinds of calls have the same results and errors', async t => {
  const folder = t.testdir({ there: 'content' })
  const ways = { atOnce: await quick(), elsewhere: files(1_000_000) }
  for (const [name, way] of Object.entries(ways)) {
    const path = join(folder, name)
    const made = await way.open(path, 'wx', 0o444)
    t.equal(await way.write(made, Buffer.from('abcdef'), 2), 4, `${name}: from the third byte`)
    await way.close(made)
    await way.rename(path, `${path}-moved`)
    const file = await way.open(`${path}-moved`, 'r')
    const bytes = Buffer.alloc(10)
    t.equal(await way.size(file), 6, name)
    t.equal(await way.read(file, bytes, 10, 2), 4, name)
    t.equal(bytes.toString('latin1', 0, 4), 'cdef', name)
    await way.close(file)
    const missing = async () => await way.open(join(folder, 'nowhere'), 'r')
    await t.rejects(missing(), { code: 'ENOENT' }, name)
    const taken = async () => await way.open(join(folder, 'there'), 'wx')
    await t.rejects(taken(), { code: 'EEXIST' }, name)
  }
})

t.test('large pieces go to another thread, and after a slow call all pieces do', async t => {
  const atOnce = await quick()
  t.not(files(200_000), atOnce)
  beCareful()
  t.not(files(), atOnce)
  t.equal(await quick(), atOnce, 'for a while')
})

t.test('one slow call changes nothing, several of them do, and so does a very slow one', async t => {
  // The slow calls of 32 count together, so quick ones take the earlier calls out of the count. A very slow one begins to count again.
  note(50)
  const atOnce = await quick()
  const manyQuick = () => Array.from({ length: 64 }, () => note(0.01))
  manyQuick()
  note(5)
  note(5)
  t.equal(files(), atOnce)
  manyQuick()
  note(5)
  t.equal(files(), atOnce)
  manyQuick()
  for (let slow = 0; slow < 3; slow++) note(5)
  t.not(files(), atOnce)
  t.equal(await quick(), atOnce)
  note(50)
  t.not(files(), atOnce)
})

t.test('many calls in one turn of the event loop go to another thread', async t => {
  const path = join(t.testdir({ file: 'content' }), 'file')
  const atOnce = await quick()
  const file = await atOnce.open(path, 'r')
  const byte = Buffer.alloc(1)
  // Without a turn in between: an awaited result is already there.
  while (files() === atOnce) await files().read(file, byte, 1, 0)
  t.not(files(), atOnce)
  await turn()
  await turn()
  t.equal(await quick(), atOnce)
  await atOnce.close(file)
})
