// A shared file system answers ESTALE when another machine has removed a file that is open here. Only that answer is made up.
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'

const { read } = fs
/**
 * The inodes of the files that were read, and of those that another machine has removed. Each file stays open here, because a file system
 * gives the inode of a file that is gone to the next one.
 */
const seen = new Map<number, number>()
const removed = new Set<number>()
/** The answer to all other reads. */
let answer: string | undefined
const answering = (...args: Parameters<typeof read>) => {
  const { ino } = fs.fstatSync(args[0])
  if (!seen.has(ino)) seen.set(ino, fs.openSync(`/proc/self/fd/${args[0]}`, 'r'))
  const code = removed.has(ino) ? 'ESTALE' : answer
  if (code === undefined) return read(...args)
  const callback = args.at(-1) as unknown as (error: Error) => void
  return callback(Object.assign(new Error(`${code}: read`), { code, syscall: 'read' }))
}
// `promisify` finds the names of its results in a property.
fs.read = Object.defineProperties(answering, Object.getOwnPropertyDescriptors(read)) as typeof read
syncBuiltinESMExports()
const { git, repositoryWith } = await import('../../history.js')
const { readStored } = await import('../../../../src/git/objects/odb/stored.js')
const { faultOfFile } = await import('../../../../src/git/repository/object-files.js')
t.teardown(() => {
  fs.read = read
  syncBuiltinESMExports()
  for (const file of seen.values()) fs.closeSync(file)
})

t.test('an open pack that another machine has removed is left to git once', async t => {
  const repository = await repositoryWith(t, 10)
  const content = randomBytes(200_000).toString('hex')
  const id = git(repository, ['hash-object', '-w', '--stdin'], content)
  git(repository, ['update-ref', 'refs/tags/large', id])
  git(repository, ['repack', '-adq'])
  const isRead = async () => (await readStored(repository, id, 1 << 20))?.content?.toString() === content
  t.equal(await isRead(), true)
  for (const ino of seen.keys()) removed.add(ino)
  git(repository, ['update-ref', 'refs/tags/more', git(repository, ['hash-object', '-w', '--stdin'], 'more')])
  git(repository, ['repack', '-adq'])
  t.equal(await isRead(), false)
  t.equal(await isRead(), true)
  t.ok(seen.size > removed.size, 'the new pack was read')
})

t.test('a check finds no fault in an object that another machine removes while it is read', async t => {
  const repository = await repositoryWith(t, 10)
  const id = git(repository, ['hash-object', '-w', '--stdin'], 'text')
  const path = `objects/${id.slice(0, 2)}/${id.slice(2)}`
  t.teardown(() => {
    answer = undefined
  })
  t.equal(await faultOfFile(repository, path), null)
  answer = 'ESTALE'
  t.equal(await faultOfFile(repository, path), null)
  answer = 'EIO'
  t.equal(await faultOfFile(repository, path), `error: ${path} cannot be read (EIO)`)
})
