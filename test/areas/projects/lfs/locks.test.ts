// Locks of files: whose they are, and who may remove them.
import { AlreadyLocked, createLock, listLocks, removeLock } from '../../../../src/areas/projects/lfs/locks.js'
import { rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { projectRow, someOrigin, type TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const by = ({ id, username, name, email }: TestUser) => {
  const user = { id, username, name, email, admin: false, external: false }
  return { ...someOrigin, user, asker: user, name: username }
}

t.test('a path has one lock, which its owner removes', async t => {
  const made = await app.make.project()
  const { owner } = made
  const project = await projectRow(made)
  const [mine, theirs] = [by(owner), by(await app.make.user())]
  const lock = await createLock(project, 'art/a.psd', mine)
  t.match(lock, { path: 'art/a.psd', username: owner.username })
  const error = await createLock(project, 'art/a.psd', theirs).catch(error => error)
  t.type(error, AlreadyLocked)
  t.equal(error.lock.id, lock.id)
  const outcomes = await Promise.allSettled([createLock(project, 'b', mine), createLock(project, 'b', theirs)])
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'two at once')
  // Git compares bytes.
  for (const path of ['ART/a.psd', 'art/a.psd ', 'art/ä.psd', 'art/a\u0308.psd'])
    await createLock(project, path, theirs)
  t.equal((await listLocks(project.id, { limit: 100 })).locks.length, 6)
  const first = await listLocks(project.id, { limit: 2 })
  t.ok(first.isMore)
  t.same(
    (await listLocks(project.id, { limit: 100, after: first.locks[1]?.id })).locks.map(({ path }) => path),
    ['ART/a.psd', 'art/a.psd ', 'art/ä.psd', 'art/a\u0308.psd']
  )
  t.equal((await listLocks(project.id, { limit: 2, path: 'art/a.psd' })).locks[0]?.id, lock.id)
  await t.rejects(removeLock(project, { id: lock.id, force: false, mayForce: true }, theirs), { name: 'Forbidden' })
  await t.rejects(removeLock(project, { id: lock.id, force: true, mayForce: false }, theirs), { name: 'Forbidden' })
  await removeLock(project, { id: lock.id, force: true, mayForce: true }, theirs)
  t.match(await rows("select changes from audit_events where action = 'lfs_lock.remove'"), [{ changes: /art\/a.psd/ }])
  await t.rejects(removeLock(project, { id: lock.id, force: false, mayForce: false }, mine), { name: 'NotFoundAs' })
  const elsewhere = await createLock(await projectRow(await app.make.project()), 'art/a.psd', mine)
  await t.rejects(removeLock(project, { id: elsewhere.id, force: true, mayForce: true }, mine), { name: 'NotFoundAs' })
})

t.test('what is no path of a file is refused', async t => {
  const made = await app.make.project()
  const { owner } = made
  const project = await projectRow(made)
  for (const path of ['', '/etc/passwd', 'a/', 'a//b', '../a', 'a/./b', 'a\0b', 'x'.repeat(1025)]) {
    await t.rejects(createLock(project, path, by(owner)), { name: 'Unprocessable' }, path.slice(0, 20))
  }
})
