import { actorOfGitRequest } from '../../../../src/areas/people/credentials/git-credentials.js'
import { noteUseOf, writeUses, writeUsesRegularly } from '../../../../src/areas/people/credentials/last-use.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

await testDatabase()

const lastUse = async ({ id }: { id: number }) =>
  (await row<{ at: Date }>('select last_used_at as at from user_uses where user_id = ?', [id]))?.at ?? null

t.test('every way in counts as a use', async t => {
  const app = await testApp(t)
  const [api, session, git, personal, idle] = await Promise.all(Array.from({ length: 5 }, () => factory.user()))
  const users = { api, session, git, personal, idle } as { [way: string]: NonNullable<typeof api> }
  const of = (way: string) => users[way] as NonNullable<typeof api>
  await app.as(of('api')).get('/user')
  const signedIn = await app.nobody.post('/session', {
    login: of('session').username,
    password: of('session').password
  })
  t.equal(signedIn.statusCode, 201)
  await actorOfGitRequest({ user: of('git').username, password: of('git').password }, '127.0.0.1')
  await actorOfGitRequest({ user: 'oauth2', password: await factory.token(of('personal')) }, '127.0.0.1')
  await t.rejects(actorOfGitRequest({ user: of('idle').username, password: 'wrong' }, '127.0.0.1'))
  await writeUses()
  for (const way of ['api', 'session', 'git', 'personal']) t.ok(await lastUse(of(way)), way)
  t.equal(await lastUse(of('idle')), null, 'a wrong password is no use')
})

t.test('a use is written once an hour, and takes no statement of its own', async t => {
  const user = await factory.user()
  t.equal(await countStatements(async () => noteUseOf(user.id)), 0)
  await writeUses()
  const then = new Date('2030-01-01T00:00:00Z')
  await execute('update user_uses set last_used_at = ? where user_id = ?', [then, user.id])
  noteUseOf(user.id)
  t.equal(await countStatements(writeUses), 0)
  t.same(await lastUse(user), then)
})

t.test('many users are one statement, and the end of the server writes the rest', async t => {
  const stop = writeUsesRegularly(3_600_000)
  for (let id = 1_000_000; id < 1_000_500; id++) noteUseOf(id)
  t.equal(await countStatements(stop), 1)
  const found = await row<{ total: number }>('select count(*) as total from user_uses where user_id >= 1000000')
  t.equal(found?.total, 500)
})
