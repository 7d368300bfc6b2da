// The first run in a browser: a page for the operator, and the link with which only the operator makes the first administrator.
import { firstLink } from '../../src/areas/reach/accounts/first-administrator.js'
import { loadConfig } from '../../src/config.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { Browser, listen } from '../helpers/browser.js'
import t from '../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const PATH = '/users/first_administrator'
const operator = { username: 'olga', name: 'Olga <b>', email: 'olga@example.org', password: 'four words for olga' }

async function link(): Promise<string> {
  const { url } = (await firstLink()) ?? {}
  const { pathname, search } = new URL(url ?? '')
  return pathname + search
}
const admins = () => rows<{ username: string; email: string }>('select username, email from users where admin = 1')

t.test('while there are no users, / is a page for the operator, which tells strangers nothing', async t => {
  const page = await new Browser(base).get('/')
  t.equal(page.status, 200)
  t.match(page.body, 'gitstead users first-link')
  t.notMatch(page.body, /token|first_administrator/)
  await execute(`update application_settings set changed = '{"home_page_url":"https://elsewhere.example"}'`)
  t.match((await new Browser(base).get('/')).body, 'gitstead users first-link')
  await execute("update application_settings set changed = '{}'")
})

t.test('without the link, nobody becomes an administrator', async t => {
  const good = await link()
  const [body = '', signature = ''] = new URLSearchParams(good.split('?')[1]).get('token')?.split('.') ?? []
  const browser = new Browser(base)
  const form = await browser.get(good)
  t.equal(form.status, 200)
  const later = Buffer.from(JSON.stringify([{}, 0])).toString('base64url')
  for (const token of ['x', `${body}.${'A'.repeat(43)}`, `${later}.${signature}`, 'x'.repeat(2048)]) {
    t.equal((await browser.get(`${PATH}?token=${token}`)).status, 403, token)
    t.equal((await browser.submit(form, PATH, { ...operator, token })).status, 403, token)
  }
  t.equal((await browser.get(PATH)).status, 400, 'no token')
  t.equal((await browser.submit(form, PATH, { ...operator, token: 'x'.repeat(2049) })).status, 400, 'a long token')
  const foreign = { ...operator, token: `${body}.${signature}`, authenticity_token: 'x' }
  t.equal((await new Browser(base).post(PATH, foreign)).status, 403, 'a form of another site')
  t.same(await admins(), [])
})

t.test('the form says what is wrong, and keeps what was entered', async t => {
  const { username } = await app.make.user()
  const browser = new Browser(base)
  const page = await browser.get(await link())
  for (const [values, problem] of [
    [{ password: 'short' }, /Password is too short/],
    [{ password: 'olga-olga' }, /Password is too easy to guess/],
    [{ username: 'a b' }, /Username can contain only/],
    [{ username }, /Username has already been taken/],
    [{ email: 'nowhere' }, /Email is invalid/],
    [{ name: '' }, /Name can(&#39;|')t be blank/]
  ] as const) {
    const again = await browser.submit(page, PATH, { ...operator, ...values })
    t.equal(again.status, 400)
    t.match(again.body, problem)
    t.match(again.body, `value="${'email' in values ? 'nowhere' : operator.email}"`)
  }
  t.notMatch((await browser.get('/')).body, 'first-link', 'with a user, / is the page of public projects')
  t.same(await admins(), [])
})

t.test('where passwords are switched off, only the administrators of the configuration get one', async t => {
  const settings = { GITSTEAD_IDENTITY_PASSWORDS_LOCAL: 'false', GITSTEAD_IDENTITY_PASSWORDS_LOCAL_FOR: 'rita' }
  t.teardown(() => {
    for (const name of Object.keys(settings)) delete process.env[name]
    loadConfig({})
  })
  const browser = new Browser(base)
  const page = await browser.get(await link())
  Object.assign(process.env, settings)
  loadConfig({})
  const refused = await browser.submit(page, PATH, operator)
  t.equal(refused.status, 400)
  t.match(refused.body, 'identity.passwords.local_for')
  t.same(await admins(), [])
})

t.test('of several forms at once, one makes the administrator; then every link is spent', async t => {
  const links = [await link(), await link()]
  const browser = new Browser(base)
  const pages = [await browser.get(links[0] ?? ''), await browser.get(links[1] ?? '')]
  const names = ['olga', 'otto']
  const answers = await Promise.all(
    pages.map((page, at) =>
      browser.submit(page, PATH, { ...operator, username: names[at] ?? '', email: `${names[at]}@example.org` })
    )
  )
  t.same(answers.map(({ status }) => status).sort(), [200, 403])
  const [admin, ...others] = await admins()
  t.same(others, [])
  const done = answers.find(({ status }) => status === 200)
  t.match(done?.body, `Welcome, ${admin?.username}`)
  t.equal((await browser.get(links[1] ?? '')).status, 403)
  t.equal(await firstLink(), null)
  const signedIn = await new Browser(base).signIn({ username: admin?.username ?? '', password: operator.password })
  t.equal(signedIn.status, 303)
  const [made] = await rows("select via from audit_events where action = 'user.create' order by id desc limit 1")
  t.match(made, { via: 'link' })
})
