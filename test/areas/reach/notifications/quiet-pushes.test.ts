// Pushes that nobody waits for: their effects are prepared before the transaction of the change.

import { openChanges } from '../../../../src/areas/code/refs/ref-changes.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { prepareQuietPush } from '../../../../src/areas/reach/notifications/quiet-pushes.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { git } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const MASTER = 'refs/heads/master'

async function subject() {
  const project = await app.make.project()
  await app.make.file(project, 'README', 'read me\n')
  const repository = repositoryPath({ id: project.id, storage: 'default' })
  const head = git(repository, ['rev-parse', 'master'])
  const next = (parent: string, message = 'Add') =>
    git(repository, ['commit-tree', '-p', parent, '-m', message, `${head}^{tree}`])
  const large = (parent: string) => {
    const blob = git(repository, ['rev-parse', 'master:README'])
    const files = Array.from({ length: 2001 }, (_, at) => `100644 blob ${blob}\t${10_000 + at}\n`)
    const tree = git(repository, ['mktree'], files.join(''))
    return git(repository, ['commit-tree', '-p', parent, '-m', 'Add', tree])
  }
  const old = (parent: string) => {
    const person = 'Ann <ann@example.com> 1000000000 +0000'
    const tree = git(repository, ['rev-parse', `${parent}^{tree}`])
    const text = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nold\n`
    return git(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], text)
  }
  /** Whether a push to the commit is prepared. */
  const isPrepared = async (commit: string): Promise<boolean> => {
    const [change] = await openChanges(project, project.owner, 'push', [{ ref: MASTER, old: head, new: commit }])
    const forget = change && (await prepareQuietPush(project.id, change))
    forget?.()
    return forget !== undefined
  }
  return { project, head, next, large, old, isPrepared }
}

t.test('the next job of the repository is scheduled before the transaction, in which pushes share the row', async t => {
  const { project, head, next, isPrepared } = await subject()
  await execute('update projects set optimise_at = null where id = ?', [project.id])
  t.ok(await isPrepared(next(head)))
  const found = await row<{ at: Date | null }>('select optimise_at as at from projects where id = ?', [project.id])
  t.ok(found?.at)
})

t.test('only pushes whose commits are found without git are prepared', async t => {
  const { head, next, large, old, isPrepared } = await subject()
  const line = (count: number) => Array.from({ length: count }).reduce((parent: string) => next(parent), head)
  t.ok(await isPrepared(line(20)))
  t.notOk(await isPrepared(line(21)))
  t.notOk(await isPrepared(next(head, 'Fixes #1')))
  t.notOk(await isPrepared(old(head)), 'a commit that is older than its parent')
  t.notOk(await isPrepared(large(head)), 'a commit that changes more files than are compared without git')
})
