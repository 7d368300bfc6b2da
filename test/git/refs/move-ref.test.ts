// Refs that move without a git process: git must agree with every result, and with every refusal.
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { moveRef } from '../../../src/git/refs/move-ref.js'
import {
  RefBlocked,
  RefMoved,
  RefWithoutObject,
  refValue,
  resolveCommit,
  updateRef,
  ZERO
} from '../../../src/git/refs/refs.js'
import { closeGitProcesses } from '../../../src/git/repository/processes.js'
import t, { type Test } from '../../helpers/tap.js'
import { git, repositoryWith } from '../history.js'

t.teardown(() => closeGitProcesses())

const MASTER = 'refs/heads/master'

async function subject(t: Test) {
  const repository = await repositoryWith(t, 10)
  const [head = '', parent = ''] = git(repository, ['rev-list', 'master']).split('\n')
  return { repository, head, parent }
}

/** Returns the files that are left of locks and drafts. */
const leftIn = (repository: string) =>
  readdirSync(repository, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.lock'))

t.test('a ref moves, is created, and moves again after it was packed, all without git', async t => {
  const { repository, head, parent } = await subject(t)
  const path = process.env.PATH
  process.env.PATH = '/nonexistent'
  t.teardown(() => {
    process.env.PATH = path
  })
  await updateRef(repository, [{ ref: MASTER, old: head, new: parent }])
  await updateRef(repository, [{ ref: 'refs/heads/néw', old: ZERO, new: head }])
  process.env.PATH = path
  t.equal(git(repository, ['rev-parse', 'master']), parent)
  t.equal(git(repository, ['rev-parse', 'néw']), head)
  git(repository, ['pack-refs', '--all', '--prune'])
  process.env.PATH = '/nonexistent'
  await updateRef(repository, [{ ref: MASTER, old: parent, new: head }])
  process.env.PATH = path
  t.equal(git(repository, ['rev-parse', 'master']), head)
  t.equal(await refValue(repository, MASTER), head)
  t.same(leftIn(repository), [])
})

t.test('git decides when a ref has another value or is locked', async t => {
  const { repository, head, parent } = await subject(t)
  const back = { ref: MASTER, old: head, new: parent }
  t.equal(await moveRef(repository, { ...back, old: parent }), false)
  t.equal(await moveRef(repository, { ...back, old: ZERO }), false)
  t.equal(await moveRef(repository, { ...back, new: ZERO }), false, 'a deletion')
  t.equal(await moveRef(repository, { ref: 'refs/heads/other', old: head, new: parent }), false)
  await t.rejects(updateRef(repository, [{ ...back, old: parent }]), RefMoved)
  writeFileSync(join(repository, `${MASTER}.lock`), '')
  t.equal(await moveRef(repository, back), false)
  t.same(leftIn(repository), [`${MASTER}.lock`], 'the lock of somebody else stays')
  t.equal(git(repository, ['rev-parse', 'master']), head)
})

t.test('a branch never points at anything but a commit', async t => {
  const { repository, head } = await subject(t)
  const tree = git(repository, ['rev-parse', 'master^{tree}'])
  for (const id of [tree, 'a'.repeat(40)]) {
    t.equal(await moveRef(repository, { ref: MASTER, old: head, new: id }), false)
    await t.rejects(updateRef(repository, [{ ref: MASTER, old: head, new: id }]))
  }
  t.equal(await moveRef(repository, { ref: 'refs/tags/tree', old: ZERO, new: tree }), true)
  t.equal(git(repository, ['cat-file', '-t', 'refs/tags/tree']), 'tree')
})

t.test('no ref is set to a commit that was pruned, even when it was just read', async t => {
  const { repository, head } = await subject(t)
  const commit = git(repository, ['commit-tree', '-m', 'feature', '-p', head, 'master^{tree}'])
  git(repository, ['update-ref', 'refs/heads/topic', commit])
  git(repository, ['repack', '-adq'])
  const aged = new Date(Date.now() - 60_000)
  utimesSync(join(repository, 'objects/pack'), aged, aged)
  const again = { ref: 'refs/heads/again', old: ZERO, new: commit }
  const path = process.env.PATH
  process.env.PATH = '/nonexistent'
  t.equal(await moveRef(repository, again), true, 'a packed commit')
  process.env.PATH = path
  for (const ref of ['again', 'topic']) git(repository, ['update-ref', '-d', `refs/heads/${ref}`])
  git(repository, ['repack', '-adq'])
  git(repository, ['prune', '--expire=now'])
  t.ok(await resolveCommit(repository, commit), 'a cache still has it')
  t.equal(await moveRef(repository, again), false)
  await t.rejects(updateRef(repository, [again]), RefWithoutObject)
  t.equal(await refValue(repository, again.ref), null)
  git(repository, ['fsck', '--no-dangling'])
})

t.test('a name that conflicts with another one is refused, as a file and in packed-refs', async t => {
  const { repository, head } = await subject(t)
  git(repository, ['update-ref', 'refs/heads/a/b', 'master'])
  git(repository, ['update-ref', 'refs/heads/c', 'master'])
  for (const packed of [false, true]) {
    if (packed) git(repository, ['pack-refs', '--all', '--prune'])
    for (const ref of ['refs/heads/a', 'refs/heads/c/d', 'refs/heads/a/b/c']) {
      t.equal(await moveRef(repository, { ref, old: ZERO, new: head }), false, ref)
      await t.rejects(updateRef(repository, [{ ref, old: ZERO, new: head }]), RefBlocked, ref)
    }
  }
  mkdirSync(join(repository, 'refs/heads/c'), { recursive: true })
  t.equal(await moveRef(repository, { ref: 'refs/heads/c/d', old: ZERO, new: head }), false, 'c is packed')
  t.same(leftIn(repository), [])
  await updateRef(repository, [{ ref: 'refs/heads/new/one', old: ZERO, new: head }])
  t.equal(git(repository, ['rev-parse', 'new/one']), head, 'git creates the folder')
})

t.test('of many changes at once, here and by git, one is made', async t => {
  const { repository, head, parent } = await subject(t)
  const before = git(repository, ['rev-parse', `${parent}^`])
  const changes = Array.from({ length: 30 }, (_, at) => ({ ref: MASTER, old: head, new: at % 2 ? parent : before }))
  const moved = await Promise.allSettled(changes.map(change => updateRef(repository, [change])))
  const made = changes.filter((_, at) => moved[at]?.status === 'fulfilled')
  t.equal(made.length, 1)
  t.equal(git(repository, ['rev-parse', 'master']), made[0]?.new)
  for (const outcome of moved) if (outcome.status === 'rejected') t.type(outcome.reason, RefMoved)
  t.same(leftIn(repository), [])
})
