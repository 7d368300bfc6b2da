// Compares objects that are read without git with those that git reads.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { forgetStored, readStored } from '../../../../src/git/objects/odb/stored.js'
import { LARGE_OBJECT, objectInfo, readerCount, readSmall } from '../../../../src/git/objects/reader.js'
import { resolveCommit } from '../../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../../src/git/repository/processes.js'
import { BLOB, idOf, type PackEntry, packOf, repeatingDelta } from '../../../helpers/packs.js'
import t from '../../../helpers/tap.js'
import { environment, git, repositoryWith } from '../../history.js'

t.teardown(() => closeGitProcesses())

interface Known {
  readonly id: string
  readonly type: string
  readonly size: number
  readonly content: Buffer
}

/** Returns all objects of a repository, as git reads them. */
function objectsOf(repository: string): Known[] {
  const args = ['cat-file', '--batch', '--batch-all-objects', '--unordered']
  const all = execFileSync('git', args, { cwd: repository, env: environment, maxBuffer: 1 << 28 })
  const found: Known[] = []
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf(10, at)
    const [id = '', type = '', size = ''] = all.toString('latin1', at, end).split(' ')
    found.push({ id, type, size: Number(size), content: all.subarray(end + 1, end + 1 + Number(size)) })
    at = end + 2 + Number(size)
  }
  return found
}

/** Returns the objects that differ from git's. */
async function different(repository: string, most = LARGE_OBJECT): Promise<string[]> {
  const wrong: string[] = []
  for (const { id, type, size, content } of objectsOf(repository)) {
    const stored = await readStored(repository, id, most)
    if (size > most && stored === undefined) continue
    const fits = size > most ? stored?.content === null : stored?.content?.equals(content)
    if (stored?.type !== type || stored.size !== size || !fits) wrong.push(`${type} ${id} ${size}`)
  }
  return wrong
}

t.test('packed and loose objects are the same as in git, without a process', async t => {
  const repository = await repositoryWith(t, 400)
  t.ok(objectsOf(repository).length > 1500)
  t.same(await different(repository), [])
  git(repository, ['repack', '-adfq', '--depth=50', '--window=50'])
  t.match(git(repository, ['verify-pack', '-v', ...indexesOf(repository)]), /chain length = 2\d/)
  t.same(await different(repository), [], 'the old pack is deleted, and the new one has long chains of deltas')
  for (const text of ['a', 'b'.repeat(70_000), '']) {
    const id = git(repository, ['hash-object', '-w', '--stdin'], text)
    t.same((await readStored(repository, id, LARGE_OBJECT))?.content?.toString(), text, 'a loose object')
  }
  const head = git(repository, ['rev-parse', 'master'])
  t.same(await objectInfo(repository, `${head}^{commit}`), {
    id: head,
    type: 'commit',
    size: (await readSmall(repository, head))?.size
  })
  t.same(await resolveCommit(repository, 'master'), { id: head, ref: 'refs/heads/master' })
  t.equal(readerCount(), 0)
})

const folderOf = (repository: string) => join(repository, 'objects/pack')
const indexesOf = (repository: string) =>
  readdirSync(folderOf(repository))
    .filter(name => name.endsWith('.idx'))
    .map(name => join(folderOf(repository), name))

t.test('a repository with a pack of many objects is read by one git process', async t => {
  const repository = await repositoryWith(t)
  const blob = (at: number) => `blob\ndata ${String(at).length + 5}\nblob ${at}\n`
  git(repository, ['fast-import', '--quiet'], Array.from({ length: 40_000 }, (_, at) => blob(at)).join(''))
  t.ok(readFileSync(indexesOf(repository)[0] ?? '').length > 1024 * 1024)
  const content = Buffer.from('blob 777')
  const id = idOf('blob', content)
  t.equal(await readStored(repository, id, 1000), undefined)
  t.match(await readSmall(repository, id), { type: 'blob', content })
  t.equal(readerCount(), 1)
  await closeGitProcesses(repository)
})

t.test('an object that is added later is found, even in a new pack', async t => {
  const repository = await repositoryWith(t)
  const contents = ['one', 'two'].map(text => Buffer.from(text))
  for (const content of contents) {
    const id = idOf('blob', content)
    t.equal(await readStored(repository, id, 1000), undefined)
    git(repository, ['index-pack', '--stdin'], packOf([{ type: BLOB, content }]))
    t.match(await readStored(repository, id, 1000), { content })
  }
})

t.test('positions beyond 2 GiB are in a separate table', async t => {
  const repository = await repositoryWith(t)
  const content = Buffer.from('far away')
  git(repository, ['index-pack', '--stdin'], packOf([{ type: BLOB, content }]))
  const [path = ''] = indexesOf(repository)
  const index = readFileSync(path)
  const place = 8 + 256 * 4 + 24
  const large = Buffer.alloc(8)
  large.writeBigUInt64BE(BigInt(index.readUInt32BE(place)))
  index.writeUInt32BE(0x80000000, place)
  rmSync(path)
  writeFileSync(path, Buffer.concat([index.subarray(0, place + 4), large, index.subarray(place + 4)]))
  t.match(await readStored(repository, idOf('blob', content), 1000), { content })
})

t.test('objects that only git should read are left to git', async t => {
  const base = Buffer.from('0123456789'.repeat(30))
  const blob: PackEntry = { type: BLOB, content: base }
  const made = (size: number, times: number) => ({
    entry: repeatingDelta({ id: idOf('blob', base), size: base.length }, size, times),
    content: Buffer.from(base.toString('latin1', 0, size).repeat(times))
  })
  const chain: PackEntry[] = [blob]
  let last = base
  for (let at = 0; at < 70; at++) {
    const shorter = last.subarray(0, last.length - 1)
    chain.push(repeatingDelta({ id: idOf('blob', last), size: last.length }, shorter.length, 1))
    last = shorter
  }
  const [large, small] = [made(300, 4000), made(200, 2)]
  const cases: readonly [what: string, entries: readonly PackEntry[], asked: Buffer, read: boolean][] = [
    ['a delta', [blob, small.entry], small.content, true],
    ['a delta with a result of more than a megabyte', [blob, large.entry], large.content, false],
    ['a chain of 70 deltas', chain, last, false],
    ['a link of that chain', chain, base.subarray(0, 250), true],
    ['a large object', [{ type: BLOB, content: Buffer.alloc(2 * LARGE_OBJECT) }], Buffer.alloc(2 * LARGE_OBJECT), true]
  ]
  for (const [what, entries, asked, read] of cases) {
    const repository = await repositoryWith(t)
    git(repository, ['index-pack', '--stdin'], packOf(entries))
    const stored = await readStored(repository, idOf('blob', asked), LARGE_OBJECT)
    t.equal(stored !== undefined, read, what)
    const content = asked.length > LARGE_OBJECT ? null : asked
    if (read) t.same(stored, { type: 'blob', size: asked.length, content }, what)
    t.match(await objectInfo(repository, idOf('blob', asked)), { type: 'blob', size: asked.length }, what)
    await closeGitProcesses(repository)
  }
})

t.test('a pack that was damaged is read after its repair', async t => {
  const repository = await repositoryWith(t, 30)
  git(repository, ['repack', '-adfq'])
  const pack = indexesOf(repository)[0]?.replace(/idx$/, 'pack') ?? ''
  const bytes = readFileSync(pack)
  const replace = (content: Buffer) => {
    writeFileSync(`${pack}.new`, content)
    renameSync(`${pack}.new`, pack)
  }
  const id = git(repository, ['rev-parse', 'master'])
  replace(Buffer.alloc(bytes.length, 1))
  t.equal(await readStored(repository, id, LARGE_OBJECT), undefined, 'git has to report the damage')
  replace(bytes)
  t.match(await readStored(repository, id, LARGE_OBJECT), { type: 'commit' })
})

t.test('damaged data is never returned', async t => {
  const repository = await repositoryWith(t, 30)
  git(repository, ['repack', '-adfq'])
  const [index = ''] = indexesOf(repository)
  const pack = index.replace(/idx$/, 'pack')
  const [bytes, ids] = [readFileSync(pack), readFileSync(index)]
  const all = objectsOf(repository).filter(({ size }) => size < 10_000)
  let [right, left] = [0, 0]
  /** Replaces a file with another one, and reads everything. */
  async function readAll(path: string, content: Buffer): Promise<void> {
    writeFileSync(`${path}.new`, content)
    renameSync(`${path}.new`, path)
    forgetStored(repository)
    for (const { id, content } of all) {
      const stored = await readStored(repository, id, LARGE_OBJECT)
      if (stored === undefined) left++
      else if (stored.content?.equals(content)) right++
      else t.fail(`${id} is another object`)
    }
  }
  for (let turn = 1; turn <= 12; turn++) {
    const damaged = Buffer.from(bytes)
    for (let at = 0; at < 8; at++) {
      const place = 12 + ((turn * 7919 + at * 104_729) % (bytes.length - 12))
      damaged.writeUInt8((damaged.readUInt8(place) + turn) & 255, place)
    }
    await readAll(pack, damaged)
  }
  for (const length of [0, 100, bytes.length - 500]) await readAll(pack, bytes.subarray(0, length))
  await readAll(pack, bytes)
  for (const length of [0, 7, 1000, 1032, 1100, ids.length - 100]) await readAll(index, ids.subarray(0, length))
  const mixed = Buffer.from(ids)
  mixed.fill(255, 8, 8 + 255 * 4)
  await readAll(index, mixed)
  t.ok(right > all.length && left > all.length, `${right} read, ${left} left to git`)
})
