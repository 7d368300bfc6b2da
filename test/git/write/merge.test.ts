// Merges, and commits that come from another repository.
import { join } from 'node:path'
import { readCommit } from '../../../src/git/objects/objects.js'
import { isHidden } from '../../../src/git/refs/hidden.js'
import { ZERO } from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import { createRepository } from '../../../src/git/repository/repository.js'
import { containedSince, freshMergeTree, keepCommit, mergeTree } from '../../../src/git/write/merge.js'
import { prepareCommit, prepareMerge } from '../../../src/git/write/write.js'
import t from '../../helpers/tap.js'
import { git } from '../history.js'

t.teardown(() => closeGitProcesses())

const ann = { name: 'Ann', email: 'ann@example.com', date: new Date(1_700_000_000_000) }

async function commit(repository: string, parent: string | null, files: Record<string, string>) {
  const changes = Object.entries(files).map(([path, content]) => ({
    action: 'create' as const,
    path,
    content: Buffer.from(content)
  }))
  const made = await prepareCommit(repository, { parent, changes, message: 'x', author: ann, committer: ann })
  await made.write()
  return made.id
}

async function makeRepository(name: string): Promise<string> {
  const path = join(t.testdirName, name)
  await createRepository(path)
  return path
}

t.testdir()
const repository = await makeRepository('one.git')
const base = await commit(repository, null, { a: 'a\n' })
const left = await commit(repository, base, { left: 'l\n', both: 'left\n' })
const right = await commit(repository, base, { right: 'r\n' })
const other = await commit(repository, base, { both: 'right\n' })
const stranger = await commit(repository, null, { z: 'z\n' })

t.test('a merge returns a tree, a conflict or unrelated history returns null', async t => {
  const tree = await mergeTree(repository, left, right)
  t.match(tree, /^[0-9a-f]{40}$/)
  t.equal(git(repository, ['ls-tree', '--name-only', tree ?? '']), 'a\nboth\nleft\nright')
  t.equal(await freshMergeTree(repository, left, right), tree)
  t.equal(await mergeTree(repository, left, other), null)
  t.equal(await mergeTree(repository, left, other), null, 'the cached result is the same')
  t.equal(await mergeTree(repository, left, stranger), null)
  await t.rejects(mergeTree(repository, 'HEAD', left), TypeError)
})

t.test('the commit of a merge has two parents, and git finds no errors', async t => {
  const treeId = (await freshMergeTree(repository, left, right)) ?? ''
  const made = prepareMerge(repository, {
    parents: [left, right],
    treeId,
    message: 'm\0m\n',
    author: ann,
    committer: ann
  })
  await made.write()
  const merge = await readCommit(repository, made.id)
  t.match(merge, { parentIds: [left, right], treeId, message: 'mm\n', authorName: 'Ann' })
  git(repository, ['fsck', '--strict', '--no-dangling', '--no-progress', made.id])
  const since = { before: left, after: made.id }
  t.same([...(await containedSince(repository, { ...since, wanted: [right, base, other] }))], [right])
  t.same([...(await containedSince(repository, { before: ZERO, after: made.id, wanted: [base] }))], [base])
  t.same([...(await containedSince(repository, { ...since, after: ZERO, wanted: [right] }))], [])
})

t.test('a hidden ref keeps commits, in their own repository and in another one', async t => {
  const ref = 'refs/internal/kept/merge-requests'
  const target = await makeRepository('two.git')
  const reaches = (where: string) => git(where, ['rev-list', '--objects', ref])
  await Promise.all([left, right].map(id => keepCommit(repository, id, repository)))
  for (const id of [left, right]) t.match(reaches(repository), id)
  // No ref of its repository points at this commit.
  await keepCommit(repository, other, target)
  await keepCommit(repository, left, target)
  git(target, ['prune', '--expire=now'])
  for (const id of [left, other]) t.match(reaches(target), id)
  t.equal(git(target, ['fsck', '--connectivity-only', '--no-dangling', '--no-progress']), '')
  await t.rejects(keepCommit(repository, 'a'.repeat(40), target))
  t.ok(isHidden(ref), 'clients do not see it')
})
