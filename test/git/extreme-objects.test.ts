// Objects that anybody may push and that no usual tool writes: each can be read, and takes bounded memory.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommit, readTag, readTree } from '../../src/git/objects/objects.js'
import { MESSAGE_LIMIT, parseCommit } from '../../src/git/objects/parse.js'
import { findEntry, walkTree } from '../../src/git/objects/tree.js'
import { openTree, parseTree } from '../../src/git/objects/tree-object.js'
import { refValue, resolveCommit } from '../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../src/git/repository/processes.js'
import t from '../helpers/tap.js'
import { git, repositoryWith } from './history.js'

const repository = await repositoryWith(t, 12)
t.teardown(() => closeGitProcesses())
const ask = (...args: string[]) => git(repository, args)
const write = (type: string, content: Buffer | string) =>
  git(repository, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], content)
const tree = ask('rev-parse', 'master^{tree}')
const head = (author = 'A <a@example.com> 1 +0000') => `tree ${tree}\nauthor ${author}\ncommitter ${author}\n`

t.test('only the beginning of a message of megabytes is kept, with a note of its length', async t => {
  for (const size of [MESSAGE_LIMIT + 2, 3_000_000]) {
    const id = write('commit', `${head()}\n${'é'.repeat(size / 2)}`)
    const { message = '', messageIsCut } = (await readCommit(repository, id)) ?? {}
    t.equal(messageIsCut, true)
    t.ok(Buffer.byteLength(message) < MESSAGE_LIMIT + 100, `${Buffer.byteLength(message)} bytes`)
    t.match(message, /^é+\n\n\[shortened: the whole message has \d+ bytes\]\n$/, 'no character is cut in half')
    t.match(message, `has ${size} bytes`)
  }
  const exact = 'x'.repeat(MESSAGE_LIMIT)
  t.equal((await readCommit(repository, write('commit', `${head()}\n${exact}`)))?.message, exact)
  const tag = write('tag', `object ${tree}\ntype tree\ntag big\ntagger T <t@example.com> 1 +0000\n\n${'y'.repeat(2e6)}`)
  const read = await readTag(repository, tag)
  t.ok(Number(read?.message.length) < MESSAGE_LIMIT + 100)
  t.equal(read?.messageIsCut, true)
})

t.test('a message that ends like a shortened one is not shortened', async t => {
  const text = 'Words\n\n[shortened: the whole message has 99999 bytes]\n'
  const { message, messageIsCut } = parseCommit('', Buffer.from(`${head()}\n${text}`))
  t.same({ message, messageIsCut }, { message: text, messageIsCut: false })
})

t.test('names and dates are limited', async t => {
  const dateOf = (seconds: string) =>
    parseCommit('', Buffer.from(`${head(`A <a@example.com> ${seconds} +0000`)}\n`)).committedDate.toISOString()
  t.equal(dateOf('253402300799'), '9999-12-31T23:59:59.000Z')
  t.equal(dateOf('253402300800'), '9999-12-31T23:59:59.000Z', 'the year 10000')
  t.equal(dateOf('9'.repeat(400)), '9999-12-31T23:59:59.000Z')
  t.equal(dateOf('-1'), '1970-01-01T00:00:00.000Z')
  t.equal(dateOf('tomorrow'), '1970-01-01T00:00:00.000Z')
  const long = parseCommit('', Buffer.from(`${head(`${'𝒳'.repeat(1000)} <${'<'.repeat(500_000)}> 5 +0000`)}\n`))
  t.equal(long.authorName, '𝒳'.repeat(127))
  t.equal(long.authorEmail.length, 255)
  t.equal(parseCommit('', Buffer.from(head('nobody'))).authorName, 'nobody')
  t.equal(parseCommit('', Buffer.from('')).treeId, '')
})

/** The bytes of a tree, sorted as git does it. */
function rawTree(entries: [mode: string, name: string][]): Buffer {
  const key = ([mode, name]: [string, string]) => (mode === '40000' ? `${name}/` : name)
  const sorted = entries.toSorted((a, b) => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b))))
  return Buffer.concat(
    sorted.flatMap(([mode, name], at) => [Buffer.from(`${mode} ${name}\0`), Buffer.alloc(20, (at % 255) + 1)])
  )
}

t.test('names are found in trees of any size, and all entries are read in order', async t => {
  const odd: [string, string][] = [
    ['40000', 'a'],
    ['100644', 'a.b'],
    ['100644', 'a-'],
    ['100644', '100644 a'],
    ['100644', ' begins with a space'],
    ['120000', 'ü'],
    ['160000', 'module']
  ]
  for (const count of [0, 10, 5000, 40_000]) {
    const many = Array.from({ length: count }, (_, at): [string, string] => [at % 7 ? '100644' : '40000', `file ${at}`])
    const raw = rawTree([...odd, ...many])
    const opened = await openTree(raw)
    const all = parseTree(raw)
    t.equal(all.length, count + odd.length)
    t.ok(
      all.every(entry => opened.find(entry.name)?.id === entry.id),
      `each of ${all.length} names is found`
    )
    for (const name of ['', 'file', 'file 0 ', '0', 'zzz', 'a/', '~']) t.equal(opened.find(name), null, name)
    const read: string[] = []
    for (let from: number | null = 0; from !== null; ) {
      const part = opened.read(from)
      read.push(...part.entries.map(({ name }) => name))
      from = part.next
    }
    t.same(
      read,
      all.map(({ name }) => name),
      'read in parts'
    )
  }
})

t.test('a tree of names of 60,000 bytes is read in parts of few names', async t => {
  const names = Array.from({ length: 100 }, (_, at) => `${String(at).padStart(3, '0')}${'x'.repeat(60_000)}`)
  const raw = rawTree(names.map(name => ['100644', name]))
  const opened = await openTree(raw)
  const read: string[] = []
  for (let from: number | null = 0; from !== null; ) {
    const part = opened.read(from)
    t.ok(part.entries.length <= 20, `${part.entries.length} names, which have about a megabyte`)
    read.push(...part.entries.map(({ name }) => name))
    from = part.next
  }
  t.same(read, names)
  t.equal(opened.find(names[57] ?? '')?.name, names[57])
  await t.rejects(openTree(raw.subarray(0, raw.length - 25)), { message: 'a tree is incomplete' })
})

t.test('a tree that is not in git’s order, and an incomplete one', async t => {
  const entries = Array.from({ length: 3000 }, (_, at) => rawTree([['100644', `file ${at}`]]))
  const unsorted = await openTree(Buffer.concat(entries.reverse()))
  t.ok(unsorted.find('file 17'))
  t.equal(unsorted.find('file'), null)
  const whole = Buffer.concat(entries)
  for (const end of [3, 10, whole.length - 1, whole.length - 25]) {
    await t.rejects(openTree(whole.subarray(0, end)), { message: 'a tree is incomplete' }, String(end))
  }
})

t.test('a folder with many entries stays small in memory, and the second read returns the same object', async t => {
  const raw = rawTree(Array.from({ length: 200_000 }, (_, at): [string, string] => ['100644', `file-${at}.txt`]))
  const id = write('tree', raw)
  const first = await readTree(repository, id)
  t.ok(Number(first?.bytes) < raw.length * 1.1, `${first?.bytes} of ${raw.length} bytes`)
  t.equal(await readTree(repository, id), first)
})

t.test('a missing object is reported as damage, not as absent', async t => {
  const missing = 'b'.repeat(40)
  const inner = write('tree', Buffer.concat([Buffer.from('40000 lost\0'), Buffer.from(missing, 'hex')]))
  const commit = write('commit', `tree ${inner}\nauthor A <a@e> 1 +0000\ncommitter A <a@e> 1 +0000\n\nm\n`)
  await t.rejects(findEntry(repository, commit, 'lost/file'), { name: 'DamagedRepository' })
  const walk = walkTree(repository, { id: inner, folder: '', recursive: true }, () => true)
  await t.rejects(walk, { name: 'DamagedRepository' })
  const rootless = write('commit', `tree ${missing}\nauthor A <a@e> 1 +0000\ncommitter A <a@e> 1 +0000\n\nm\n`)
  await t.rejects(findEntry(repository, rootless, 'README'), { name: 'DamagedRepository' })
})

t.test('a ref that git ignores is reported as damage', async t => {
  const damaged = await repositoryWith(t, 11)
  const file = join(damaged, 'refs/heads/master')
  const value = readFileSync(file)
  t.equal(await refValue(damaged, 'refs/heads/nowhere'), null)
  t.equal(await resolveCommit(damaged, 'nowhere'), null)
  writeFileSync(file, '')
  await t.rejects(refValue(damaged, 'refs/heads/master'), { name: 'DamagedRepository' }, 'empty after a power cut')
  await t.rejects(resolveCommit(damaged, 'master'), { name: 'DamagedRepository' })
  writeFileSync(file, `${'c'.repeat(40)}\n`)
  await t.rejects(resolveCommit(damaged, 'master'), { name: 'DamagedRepository' }, 'of a lost object')
  rmSync(file)
  writeFileSync(join(damaged, 'packed-refs'), `# pack-refs with: sorted \n${'c'.repeat(40)} refs/heads/master\n`)
  await t.rejects(resolveCommit(damaged, 'master'), { name: 'DamagedRepository' }, 'in packed-refs')
  writeFileSync(file, value)
  t.ok(await resolveCommit(damaged, 'master'))
})
