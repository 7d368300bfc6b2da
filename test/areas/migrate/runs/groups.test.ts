// What people change in a group that a migration has made stays, and another group never gets its members and projects.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { cloneable, serveGithub } from '../github/conversation.js'

process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
const app = await testApp(t)
const admin = app.as(await app.make.admin())
const { answers } = await cloneable(t)
const { url } = await serveGithub(t, answers)
const settings = { kind: 'github', url: url.origin, map: {}, people: {}, rate: 1000, keys: false }
await addMigration('crew', 'sesame', settings, someOrigin)
const given = { origin: someOrigin, signal: new AbortController().signal }
const run = async () =>
  (await runMigration(await findMigration('crew'), { projects: ['crew/tool'], overwrite: false }, given)).projects
const members = async () =>
  (await admin.get('/groups/crew/members'))
    .json()
    .map(({ username, access_level }: { username: string; access_level: number }) => `${username} ${access_level}`)
    .sort()
const idOf = async (username: string) => (await admin.get('/users', { username })).json()[0].id
const remove = async () => {
  t.equal((await admin.delete('/groups/crew')).statusCode, 200)
  await app.runJobs()
}
const MEMBERS = 'orgs/crew/members?role=member&per_page=100'
const [root] = (await admin.get('/users')).json()

t.test('members who were removed or changed here stay so, and new members of the source come', async t => {
  t.match(await run(), [{ result: 'created', to: 'crew/tool' }])
  t.same(await members(), ['ada 50', 'ben 20', `${root.username} 50`])
  await admin.delete(`/groups/crew/members/${await idOf('ben')}`)
  await admin.put(`/groups/crew/members/${await idOf('ada')}`, { access_level: 30 })
  answers[MEMBERS] = [...(answers[MEMBERS] as object[]), { id: 99, login: 'cleo' }]
  t.match(await run(), [{ result: 'unchanged' }])
  t.same(await members(), ['ada 30', 'cleo 20', `${root.username} 50`])
})

t.test('a group that an earlier program has made still belongs to its migration', async t => {
  const { folder } = await findMigration('crew')
  writeFileSync(join(folder, 'groups.json'), '{"crew":"crew"}')
  t.match(await run(), [{ result: 'unchanged' }])
  t.same(await members(), ['ada 30', 'ben 20', 'cleo 20', `${root.username} 50`], 'which did not note the members')
  const { id } = (await admin.get('/groups/crew')).json()
  const noted = { crew: { from: 'crew', id, members: ['ada', 'ben', 'cleo'] } }
  t.same(JSON.parse(readFileSync(join(folder, 'groups.json'), 'utf8')), noted)
})

t.test('a group that somebody has deleted comes again, with its members', async t => {
  await remove()
  t.match(await run(), [{ result: 'created', to: 'crew/tool' }])
  t.same(await members(), ['ada 50', 'ben 20', 'cleo 20', `${root.username} 50`])
})

t.test('another group that has the path since stays as it is', async t => {
  await remove()
  const owner = await app.make.user()
  await app.make.group({ owner, path: 'crew' })
  const error = 'the namespace crew exists here: choose another for crew, or the same one, with --map'
  const { problems } = await planMigration(
    await findMigration('crew'),
    { projects: ['crew/tool'], quick: false },
    given
  )
  t.same(problems, [error])
  t.match(await run(), [{ result: 'failed', error }])
  t.same(await members(), [`${owner.username} 50`])
})
