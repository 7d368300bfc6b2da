// The limits on what a small push may make this process read: a client sends a few kilobytes, and other requests wait.
import { isKept } from '../../../../src/git/objects/cache.js'
import { type LooseObject, makeObject } from '../../../../src/git/objects/loose-writer.js'
import { LeaveToGit } from '../../../../src/git/objects/odb/leave-to-git.js'
import { readSmall } from '../../../../src/git/objects/reader.js'
import { closeGitProcesses } from '../../../../src/git/repository/processes.js'
import { connect } from '../../../../src/git/transport/small/connected.js'
import t, { type Test } from '../../../helpers/tap.js'
import { git, repositoryWith } from '../../history.js'

t.teardown(() => closeGitProcesses())

const person = 'Ann <ann@example.com> 1600000000 +0000'
const commitOf = (tree: string, parents: readonly string[]) =>
  makeObject(
    'commit',
    Buffer.from(
      `tree ${tree}\n${parents.map(id => `parent ${id}\n`).join('')}author ${person}\ncommitter ${person}\n\nx\n`
    )
  )

function pushOf(objects: readonly LooseObject[], tips: readonly string[]) {
  let lists = 0
  const list = async () => {
    lists++
    return new Set(tips)
  }
  const known = { olds: new Set<string>(), tips: list, isInHistory: async () => false }
  const arrived = { objects: new Map(objects.map(one => [one.id, one])), ...known }
  return { tip: objects.at(-1)?.id ?? '', arrived, lists: () => lists }
}

t.test('a push lists the refs once, and has a limit on the parents outside it', async t => {
  const repository = await repositoryWith(t, 40)
  const tips = git(repository, ['rev-list', 'master']).split('\n')
  const tree = git(repository, ['rev-parse', 'master^{tree}'])
  const chainOn = (roots: readonly string[]) => {
    const commits: LooseObject[] = []
    for (let at = 0; at < roots.length; at += 8) {
      const last = commits.at(-1)
      commits.push(commitOf(tree, [...(last ? [last.id] : []), ...roots.slice(at, at + 8)]))
    }
    return pushOf(commits, tips)
  }
  const most = chainOn(tips.slice(0, 32))
  t.equal((await connect(repository, most.tip, most.arrived)).roots.size, 32)
  t.equal(most.lists(), 1)
  const more = chainOn(tips.slice(0, 33))
  await t.rejects(connect(repository, more.tip, more.arrived), LeaveToGit)
})

/** A repository whose tip has a folder of many files, and a push on it whose tree has `added` files. */
async function withFiles(t: Test, count: number, added: number) {
  const repository = await repositoryWith(t)
  const blob = git(repository, ['hash-object', '-w', '--stdin'], 'x')
  const line = (at: number) => `100644 blob ${blob}\tfile-${String(at).padStart(6, '0')}\n`
  const older = git(repository, ['mktree'], Array.from({ length: count }, (_, at) => line(at)).join(''))
  const head = git(repository, ['commit-tree', '-m', 'files', older])
  const entry = (at: number) =>
    Buffer.concat([Buffer.from(`100644 more-${String(at).padStart(6, '0')}\0`), Buffer.from(blob, 'hex')])
  const tree = makeObject('tree', Buffer.concat(Array.from({ length: added }, (_, at) => entry(at))))
  const { tip, arrived } = pushOf([tree, commitOf(tree.id, [head])], [head])
  return { connected: () => connect(repository, tip, arrived), isOlderRead: () => isKept(repository, `tree ${older}`) }
}

t.test('a file that was pruned is left to git, although a cache still has it', async t => {
  const repository = await repositoryWith(t, 10)
  const head = git(repository, ['rev-parse', 'master'])
  const blob = git(repository, ['hash-object', '-w', '--stdin'], 'an old file')
  const folder = git(repository, ['mktree'], `100644 blob ${blob}\told\n`)
  git(repository, ['update-ref', 'refs/tags/old', git(repository, ['commit-tree', '-m', 'old', folder])])
  git(repository, ['repack', '-adq'])
  const root = makeObject('tree', Buffer.concat([Buffer.from('100644 back\0'), Buffer.from(blob, 'hex')]))
  const { tip, arrived } = pushOf([root, commitOf(root.id, [head])], [head])
  t.equal((await connect(repository, tip, arrived)).objects.length, 2)
  git(repository, ['update-ref', '-d', 'refs/tags/old'])
  git(repository, ['repack', '-adq'])
  git(repository, ['prune', '--expire=now'])
  t.equal((await readSmall(repository, blob))?.type, 'blob', 'a cache still has it')
  await t.rejects(connect(repository, tip, arrived), LeaveToGit)
})

t.test('other work runs while the entries of a large folder are compared', async t => {
  const { connected } = await withFiles(t, 15_000, 1)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { objects } = await connected()
  isOver = true
  t.equal(objects.length, 2)
  t.ok(turns >= 7, `${turns} turns`)
})

t.test('a folder with very many files is left to git', async t => {
  const { connected } = await withFiles(t, 25_000, 1)
  await t.rejects(connected(), LeaveToGit)
})

t.test('a large tree is left to git before other trees are read', async t => {
  const { connected, isOlderRead } = await withFiles(t, 10, 10_000)
  await t.rejects(connected(), LeaveToGit)
  t.notOk(isOlderRead())
})
