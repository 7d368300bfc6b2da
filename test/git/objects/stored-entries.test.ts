// Compares spliced trees with those that git creates with its index.
import { execFileSync } from 'node:child_process'
import { storedEntries } from '../../../src/git/objects/stored-entries.js'
import t from '../../helpers/tap.js'

const ID = '1'.repeat(40)
const OTHER = '2'.repeat(40)
const entry = (name: string, mode = '100644', id = ID) =>
  Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])

t.test("entries are found, in git's order of files and folders", async t => {
  const raw = Buffer.concat([entry('a-b'), entry('a.c', '100755'), entry('a', '040000'), entry('a0'), entry('caf\xe9')])
  const stored = storedEntries(raw)
  t.equal(stored.count, 5)
  t.same(stored.find('a'), { mode: '040000', id: ID })
  t.same(stored.find('a.c'), { mode: '100755', id: ID })
  t.same(stored.find('caf\xe9'), { mode: '100644', id: ID })
  for (const name of ['', 'a-', 'b', 'A']) t.equal(stored.find(name), null, name)
  t.ok(stored.with([]).equals(raw))
})

t.test('a changed tree has the bytes that git would write', async t => {
  const stored = storedEntries(Buffer.concat([entry('a'), entry('b', '040000'), entry('c')]))
  const cases: readonly [string, Parameters<typeof stored.with>[0], readonly Buffer[]][] = [
    [
      'added',
      [{ name: 'b.x', slot: { mode: '100644', id: ID } }],
      [entry('a'), entry('b.x'), entry('b', '040000'), entry('c')]
    ],
    [
      'changed',
      [{ name: 'a', slot: { mode: '100755', id: OTHER } }],
      [entry('a', '100755', OTHER), entry('b', '040000'), entry('c')]
    ],
    ['removed', [{ name: 'b', slot: null }], [entry('a'), entry('c')]],
    ['nothing to remove', [{ name: 'x', slot: null }], [entry('a'), entry('b', '040000'), entry('c')]],
    [
      'a folder becomes a file',
      [{ name: 'b', slot: { mode: '100644', id: ID } }],
      [entry('a'), entry('b'), entry('c')]
    ],
    [
      'several entries at the same place',
      [
        { name: 'c', slot: null },
        { name: 'e', slot: { mode: '100644', id: ID } },
        { name: 'd', slot: { mode: '100644', id: ID } }
      ],
      [entry('a'), entry('b', '040000'), entry('d'), entry('e')]
    ],
    ['all removed', ['a', 'b', 'c'].map(name => ({ name, slot: null })), []]
  ]
  for (const [what, entries, expected] of cases) t.ok(stored.with(entries).equals(Buffer.concat(expected)), what)
})

t.test('trees are the same as git writes', async t => {
  const folder = t.testdir()
  const git = (args: string[], input = '') => execFileSync('git', args, { cwd: folder, input }).toString().trim()
  git(['init', '-q', '--bare'])
  const blob = git(['hash-object', '-w', '--stdin'], 'x')
  const tree = git(['mktree'], '')
  const names = ['lib', 'lib.c', 'lib-x', 'lib0', 'a', 'B', 'z']
  const stored = storedEntries(Buffer.alloc(0))
  const raw = stored.with(
    names.map((name, at) => ({
      name,
      slot: at % 2 === 0 ? { mode: '040000', id: tree } : { mode: '100644', id: blob }
    }))
  )
  const lines = names.map((name, at) =>
    at % 2 === 0 ? `040000 tree ${tree}\t${name}` : `100644 blob ${blob}\t${name}`
  )
  const made = git(['mktree'], `${lines.join('\n')}\n`)
  t.ok(execFileSync('git', ['cat-file', 'tree', made], { cwd: folder }).equals(raw))
})

t.test('a tree that is out of order is sorted', async t => {
  const raw = Buffer.concat([entry('b'), entry('a', '040000'), entry('a.b'), entry('b', '100755', OTHER)])
  const stored = storedEntries(raw)
  t.equal(stored.count, 3)
  t.ok(stored.with([]).equals(Buffer.concat([entry('a.b'), entry('a', '040000'), entry('b', '100755', OTHER)])))
})

t.test('a damaged tree may have an entry without a name', async t => {
  const raw = Buffer.concat([entry('b'), entry(''), entry('')])
  t.ok(
    storedEntries(raw)
      .with([])
      .equals(Buffer.concat([entry(''), entry('b')]))
  )
})

t.test('a tree that is cut off is an error', async t => {
  t.throws(() => storedEntries(entry('a').subarray(0, 20)), /incomplete/)
  t.throws(() => storedEntries(Buffer.from('100644 a')), /incomplete/)
})
