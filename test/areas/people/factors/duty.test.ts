// Who must have a second factor, and what a session can do without the required one.
import { resetFactors } from '../../../../src/areas/people/factors/factors.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { someOrigin, type TestUser } from '../../../helpers/factory.js'
import { codeOf, giveApp } from '../../../helpers/second-factors.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const SET_UP = '/profile/two_factor'

const app = await testApp(t)
const base = await listen(app.fastify)
const { home } = config()
const require = (two_factor: object, oidc = {}) => loadConfig({ home, identity: { two_factor, oidc } })
t.afterEach(() => void loadConfig({ home }))

async function signedIn(user: TestUser) {
  const browser = new Browser(base)
  await browser.signIn(user)
  return browser
}
/** Lets the days of grace be over. */
const wait = (user: TestUser, days: number) =>
  execute('update users set two_factor_asked_at = ? where id = ?', [new Date(Date.now() - days * 86_400_000), user.id])
const asked = async ({ id }: TestUser) =>
  (await row<{ at: Date | null }>('select two_factor_asked_at as at from users where id = ?', [id]))?.at

t.test('during the days of grace, every page reminds its reader', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  t.notMatch((await browser.get('/dashboard/projects')).body, 'needs a second factor')
  t.equal(await asked(user), null)
  require({ required: 'everyone', grace_days: 7 })
  const { status, body } = await browser.get('/dashboard/projects')
  t.equal(status, 200)
  t.match(body, 'Your account needs a second factor')
  const until = new Date(((await asked(user))?.getTime() ?? 0) + 7 * 86_400_000).toISOString()
  t.match(body, `datetime="${until}"`)
  t.ok(new Date(until).getTime() > Date.now() + 6.9 * 86_400_000)
  t.match((await browser.get('/profile')).body, until, 'a second page shows the same end')
  await wait(user, 6.9)
  t.equal((await browser.get('/dashboard/projects')).status, 200)
})

t.test('after them, a session opens only the pages for setting it up', async t => {
  const owner = await app.make.user()
  const project = await app.make.project({ owner, visibility_level: 20 })
  require({ required: 'everyone', grace_days: 7 })
  const browser = await signedIn(owner)
  const open = await browser.get('/profile')
  await wait(owner, 7)
  for (const path of [
    '/',
    '/profile',
    '/explore',
    `/${project.path}`,
    '/profile/personal_access_tokens',
    '/oauth/applications'
  ]) {
    const { status, location } = await browser.get(path)
    t.notOk(status === 200, path)
    if (status === 303) t.equal(location, SET_UP, path)
  }
  t.match(await browser.get('/dashboard/projects'), { status: 303, location: SET_UP })
  t.equal((await browser.submit(open, 'keeps_empty', { name: 'Changed' })).status, 403, 'a form')
  t.equal((await browser.get('/api/v3/user')).status, 403, 'the API with the cookie')
  t.match((await browser.get('/oauth/authorize?client_id=x')).status, 401, 'no application')
  t.match((await browser.get(SET_UP)).body, 'to continue')
  const page = await browser.get(`${SET_UP}/app`)
  t.equal(page.status, 200)
  const token = await app.make.token(owner)
  const api = app.fastify.inject({ url: '/api/v3/user', headers: { 'private-token': token } })
  t.equal((await api).statusCode, 200, 'tokens work')
  const session = { login: owner.username, password: owner.password }
  const byPassword = await app.nobody.inject({ method: 'POST', url: '/api/v3/session', payload: session })
  t.equal(byPassword.statusCode, 401, 'the password does not, elsewhere')
  t.match(byPassword.json().message, 'personal access token')
  const [, secret = ''] = /name="secret" value="([A-Z2-7]+)"/.exec(page.body) ?? []
  const done = await browser.submit(page, 'name="code"', { code: codeOf(secret) })
  t.equal(done.status, 201)
  t.notMatch(done.body, 'needs a second factor')
  t.equal((await browser.get('/profile')).status, 200, 'the session is free again')
  t.equal((await browser.submit(await browser.get(SET_UP), '/app/delete')).status, 303)
  t.match(await browser.get('/profile'), { status: 303, location: SET_UP }, 'removing it gives no new days')
  await giveApp(owner)
  await resetFactors(owner, someOrigin)
  const later = await signedIn(owner)
  t.match((await later.get('/profile')).body, 'Set it up</a> by', 'a reset does')
})

t.test('the visitor may sign out', async t => {
  const user = await app.make.user()
  require({ required: 'everyone', grace_days: 0 })
  const browser = await signedIn(user)
  t.match(await browser.get('/profile'), { status: 303, location: SET_UP }, 'without any days')
  const out = await browser.submit(await browser.get(SET_UP), '/users/sign_out')
  t.equal(out.status, 303)
  t.notOk(browser.cookies.has('_service_session'))
})

t.test('it is required of administrators, or of members of groups', async t => {
  const [user, admin, member] = [await app.make.user(), await app.make.admin(), await app.make.user()]
  const group = await app.make.group()
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     values ('namespace', ?, ?, ?, now(), now())`,
    [group.id, member.id, DEVELOPER]
  )
  const browsers = await Promise.all([user, admin, member].map(signedIn))
  const opens = async () => (await Promise.all(browsers.map(one => one.get('/profile')))).map(({ status }) => status)
  require({ required: 'administrators', grace_days: 0 })
  t.same(await opens(), [200, 303, 200])
  t.equal((await browsers[1]?.get('/api/v3/users?active=true'))?.status, 403, 'nor may the session use its rights')
  require({ required: 'nobody', groups: [group.path.toUpperCase(), 'no-such-group'], grace_days: 0 })
  t.same(await opens(), [200, 200, 303])
  t.equal(await asked(admin), null, 'the days begin again for those who need none')
  const root = await app.make.admin()
  await app.as(root).put(`/groups/${group.id}`, { path: `${group.path}-renamed` })
  t.same(await opens(), [200, 200, 303], 'its owner cannot end it by another path')
  await execute('update members set expires_at = utc_date() where user_id = ?', [member.id])
  t.same(await opens(), [200, 200, 200], 'an expired membership does not count')
  require({ required: 'everyone', grace_days: 0 })
  await giveApp(user)
  t.same(await opens(), [200, 303, 303])
  const profile = browsers[0] as Browser
  const few = await countStatements(() => profile.get('/profile'))
  require({ required: 'everyone', groups: Array.from({ length: 50 }, (_, at) => `group-${at}`), grace_days: 0 })
  t.equal(await countStatements(() => profile.get('/profile')), few, 'it takes no statement of its own')
})

t.test('a provider that checks a factor is enough, unless the configuration says otherwise', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const oidc = { company: { label: 'Company', issuer: 'https://id.example.org', client_id: 'x' } }
  await execute("update sessions set provider = 'company' where user_id = ?", [user.id])
  require({ required: 'everyone', grace_days: 0 }, oidc)
  t.equal((await browser.get('/profile')).status, 200)
  require({ required: 'everyone', grace_days: 0, after_provider: true }, oidc)
  t.equal((await browser.get('/profile')).status, 303)
  require({ required: 'everyone', grace_days: 0 })
  t.equal((await browser.get('/profile')).status, 303, 'a provider that is not configured')
})

t.test('a wrong configuration is one line', async t => {
  const problem = (two_factor: object) => {
    try {
      require(two_factor)
    } catch (error) {
      return String(error)
    }
    return ''
  }
  t.match(problem({ required: 'all' }), 'identity.two_factor.required must be one of nobody, administrators, everyone')
  t.match(problem({ grace_days: -1 }), 'identity.two_factor.grace_days must be a whole number from 0 to 365')
  t.match(problem({ groups: ['a b'] }), 'identity.two_factor.groups must be a list of paths of groups')
})
