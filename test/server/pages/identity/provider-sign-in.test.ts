// Signing in with a real provider, from the button to the session.
import t from 'tap'
import { signIns } from '../../../../src/areas/ground/audit/sign-in-counts.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, formIn, listen } from '../../../helpers/browser.js'
import { startProvider } from '../../../helpers/oidc-provider.js'
import { codeOf, giveApp } from '../../../helpers/second-factors.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const provider = await startProvider(t, base, 'company')
const settings = { ...provider.settings, label: 'Company' }
const configure = (changes: object = {}, others: object = {}) =>
  loadConfig({ port: 0, url: base, identity: { oidc: { company: { ...settings, ...changes }, ...others } } })
configure()

let made = 0
function person(claims: Record<string, unknown> = {}) {
  const number = ++made
  const sub = `subject-${number}`
  const known = {
    name: `Person ${number}`,
    preferred_username: `person-${number}`,
    email: `person-${number}@company.example`,
    email_verified: true,
    ...claims
  }
  provider.people.set(sub, known)
  return { sub, ...known }
}

const pathOf = (url: string) => url.slice(base.length)

/** Starts at a path, signs in at the provider, and comes back. */
async function signIn(sub: string, { browser = new Browser(base), start = '/users/auth/company' } = {}) {
  const begun = await browser.get(start)
  if (begun.status !== 303) return { browser, answer: begun }
  const back = await provider.signIn(begun.location ?? '', sub)
  return { browser, back, answer: await browser.get(pathOf(back)) }
}

const userOf = (sub: string) =>
  row<{
    id: number
    username: string
    admin: number
    external: number
    state: string
    email_confirmed_at: Date | null
  }>(
    'select u.id, u.username, u.admin, u.external, u.state, u.email_confirmed_at from users u join identities i on i.user_id = u.id where i.extern_uid = ?',
    [sub]
  )
const levelsOf = async (userId: number) =>
  Object.fromEntries(
    (
      await rows<{ path: string; access_level: number }>(
        `select n.path, m.access_level from members m join namespaces n on n.id = m.source_id
         where m.source_type = 'namespace' and m.user_id = ?`,
        [userId]
      )
    ).map(({ path, access_level }) => [path, access_level])
  )

t.test('the first sign-in creates an account, and the next one finds it', async t => {
  configure()
  const before = signIns('oidc', 'ok')
  const ann = person()
  const page = await new Browser(base).get('/users/sign_in?return_to=%2Fexplore')
  t.match(page.body, /href="\/users\/auth\/company\?return_to=%2Fexplore">Sign in with Company</)
  const { browser, answer } = await signIn(ann.sub, { start: '/users/auth/company?return_to=%2Fprofile' })
  t.equal(answer.status, 303)
  t.equal(answer.location, '/profile')
  t.match((await browser.get('/profile')).body, new RegExp(ann.name))
  const user = await userOf(ann.sub)
  t.match(user, { username: ann.preferred_username, admin: 0, state: 'active', email_confirmed_at: Date })
  provider.people.set(ann.sub, { ...ann, name: 'Ann New', preferred_username: 'other', email: 'new@company.example' })
  const again = await signIn(ann.sub)
  t.equal(again.answer.location, '/')
  t.equal((await userOf(ann.sub))?.id, user?.id)
  t.match((await browser.get('/profile')).body, /Ann New/, 'the provider decides the name')
  t.equal((await userOf(ann.sub))?.username, ann.preferred_username, 'but paths stay')
  const sessions = await rows<{ provider: string; provider_session: string }>(
    'select provider, provider_session from sessions where user_id = ?',
    [user?.id ?? 0]
  )
  t.equal(sessions.length, 2)
  t.match(sessions[0], { provider: 'company', provider_session: /.+/ })
  const audited = await rows<{ via: string; actor_name: string }>(
    "select via, actor_name from audit_events where action = 'user.create' and target_id = ?",
    [String(user?.id)]
  )
  t.match(audited, [{ via: 'provider', actor_name: 'company' }])
  t.equal(signIns('oidc', 'ok') - before, 2)
})

t.test('claims decide administrator, external and memberships', async t => {
  const [first, second] = [await app.make.group(), await app.make.group()]
  configure({
    claims: { groups: 'groups' },
    admin: { values: ['admins'] },
    external: { claim: 'roles', values: ['guest'] },
    members: [
      `engineers -> ${first.path} as developer`,
      `engineers -> ${second.path} as guest`,
      `people -> ${first.path} as guest`
    ]
  })
  const ben = person({ groups: ['engineers', 'people', 'admins'], roles: 'guest' })
  await signIn(ben.sub)
  const user = await userOf(ben.sub)
  t.match(user, { admin: 1, external: 1 })
  t.same(await levelsOf(user?.id ?? 0), { [first.path]: DEVELOPER, [second.path]: GUEST })
  provider.people.set(ben.sub, { ...ben, groups: ['people'], roles: [] })
  await signIn(ben.sub)
  t.match(await userOf(ben.sub), { admin: 1, external: 0 }, 'the last administrator stays one')
  t.same(await levelsOf(user?.id ?? 0), { [first.path]: GUEST })
  await app.make.admin()
  await signIn(ben.sub)
  t.match(await userOf(ben.sub), { admin: 0 })
  configure({ members: [] })
  await signIn(ben.sub)
  t.same(await levelsOf(user?.id ?? 0), {}, 'without any line, what the lines gave ends')
})

t.test('groups and domains restrict who may enter', async t => {
  configure({ allowed_groups: ['staff'], allowed_domains: ['company.example'] })
  const cat = person({ groups: ['staff'] })
  t.equal((await signIn(cat.sub)).answer.status, 303)
  provider.people.set(cat.sub, { ...cat, groups: ['former'] })
  const refused = (await signIn(cat.sub)).answer
  t.equal(refused.status, 403)
  t.match(refused.body, /Your account at Company may not use this service\./)
  for (const email of ['x@company.example.evil.example', 'x@evilcompany.example', '"x@company.example"@evil.example']) {
    const stranger = person({ groups: ['staff'], email })
    t.equal((await signIn(stranger.sub)).answer.status, 403, email)
    t.equal(await userOf(stranger.sub), undefined)
  }
})

t.test('an account may have to be approved', async t => {
  configure({ approval: true })
  const dan = person()
  t.equal((await signIn(dan.sub)).answer.status, 403)
  t.match(await userOf(dan.sub), { state: 'blocked' })
  t.equal((await signIn(dan.sub)).answer.status, 403)
})

t.test('an unverified address creates no account, unless the settings trust it', async t => {
  configure()
  const [unsaid, denied] = [person({ email_verified: undefined }), person({ email_verified: false })]
  for (const { sub } of [unsaid, denied]) {
    const { answer } = await signIn(sub)
    t.equal(answer.status, 403)
    t.match(answer.body, /Company has not checked your email address/)
  }
  configure({ trust_email: true })
  t.equal((await signIn(unsaid.sub)).answer.status, 303)
  t.equal((await signIn(denied.sub)).answer.status, 403, 'the word of the provider counts')
})

t.test('an account is connected only by those who can sign in to it', async t => {
  configure()
  const victim = await app.make.user()
  const attacker = person({ email: victim.email })
  const { browser, answer } = await signIn(attacker.sub)
  t.equal(answer.status, 403)
  t.match(answer.body, /Somebody here has your email address already\. If you have an account here, sign in to it now/)
  t.equal(await userOf(attacker.sub), undefined)
  t.equal((await browser.get('/profile/identities/link')).status, 302, 'nobody is signed in')
  const signedIn = await browser.submit(answer, '/users/sign_in', { login: victim.username, password: victim.password })
  t.equal(signedIn.location, '/profile/identities/link')
  const question = await browser.get('/profile/identities/link')
  t.match(question.body, new RegExp(`<strong>Company</strong> as <strong>${victim.email}`))
  t.equal(await userOf(attacker.sub), undefined, 'not before the question is answered')
  const foreign = await browser.post('/profile/identities/link', {}, { 'sec-fetch-site': 'cross-site' })
  t.equal(foreign.status, 403, 'a form of another site')
  t.equal((await browser.submit(question, 'identities/link')).location, '/profile/identities')
  t.match(await userOf(attacker.sub), { id: victim.id })
  t.equal((await browser.submit(question, 'identities/link', { again: '1' })).status, 409, 'only once')
  t.match((await browser.get('/profile/identities')).body, new RegExp(`Company.*${attacker.sub}`, 's'))
  t.equal((await signIn(attacker.sub)).answer.status, 303)
  const audited = await rows<{ changes: string }>(
    "select changes from audit_events where action = 'user.update' and target_id = ?",
    [String(victim.id)]
  )
  t.match(audited.at(-2)?.changes ?? audited.at(-1)?.changes, /identity company/)
})

t.test('users connect and disconnect accounts', async t => {
  configure()
  const user = await app.make.user()
  const eve = person()
  const browser = new Browser(base)
  await browser.signIn(user)
  const begun = await browser.submit(await browser.get('/profile/identities'), 'company/connect')
  t.equal(begun.status, 200)
  const [, to = ''] = /^0; url=(.*)$/.exec(begun.headers.get('refresh') ?? '') ?? []
  const back = pathOf(await provider.signIn(to, eve.sub))
  const other = new Browser(base)
  await other.signIn(await app.make.user())
  t.equal((await other.get(back)).status, 400, 'another browser has not begun it')
  t.equal((await browser.get(back)).location, '/profile/identities')
  t.match(await userOf(eve.sub), { id: user.id })
  const page = await browser.get('/profile/identities')
  t.notMatch(page.body, /company\/connect/)
  t.equal((await browser.submit(page, 'company/disconnect')).location, '/profile/identities')
  t.equal(await userOf(eve.sub), undefined)

  await signIn(eve.sub)
  const taken = await browser.submit(await browser.get('/profile/identities'), 'company/connect')
  const [, again = ''] = /^0; url=(.*)$/.exec(taken.headers.get('refresh') ?? '') ?? []
  const refused = await browser.get(pathOf(await provider.signIn(again, eve.sub)))
  t.equal(refused.status, 409)
  t.match(refused.body, /already connected with another user/)
})

t.test('an open browser is not enough to connect an account', async t => {
  configure()
  const user = await app.make.user()
  const browser = new Browser(base)
  await browser.signIn(user)
  await execute('update sessions set created_at = ? where user_id = ?', [new Date(Date.now() - 601_000), user.id])
  const page = await browser.get('/profile/identities')
  for (const confirmation of ['', 'a guess'] as const) {
    const refused = await browser.submit(page, 'company/connect', { confirmation })
    t.equal(refused.status, 400)
    t.match(refused.body, /The password or code is wrong/)
    t.notOk(refused.headers.get('refresh'))
  }
  const begun = await browser.submit(page, 'company/connect', { confirmation: user.password })
  const [, to = ''] = /^0; url=(.*)$/.exec(begun.headers.get('refresh') ?? '') ?? []
  const gil = person()
  t.equal((await browser.get(pathOf(await provider.signIn(to, gil.sub)))).location, '/profile/identities')
  const connected = await browser.get('/profile/identities')
  t.equal((await browser.submit(connected, 'company/disconnect')).status, 400)
  t.match(await userOf(gil.sub), { id: user.id })

  // Somebody who is known nowhere, and then signs in: the question stays open for too long.
  const stranger = person({ email: user.email })
  const { answer } = await signIn(stranger.sub, { browser })
  await browser.submit(answer, '/users/sign_in', { login: user.username, password: user.password })
  await execute('update sessions set created_at = ? where user_id = ?', [new Date(Date.now() - 601_000), user.id])
  t.equal((await browser.submit(await browser.get('/profile/identities/link'), 'identities/link')).status, 400)
})

t.test('people do not leave their directory, and a password that nobody may use is no way in', async t => {
  const corp = { urls: ['ldaps://127.0.0.1:1'], base: 'dc=example,dc=org' }
  const passwords = { min_length: 8, strength: 2, strength_for: 'people', local: true, local_for: ['somebody'] }
  const load = (local: boolean) =>
    loadConfig({
      port: 0,
      url: base,
      identity: { oidc: { company: settings }, ldap: { corp }, passwords: { ...passwords, local } }
    } as never)
  const user = await app.make.user()
  const browser = new Browser(base)
  await browser.signIn(user)
  load(true)
  t.teardown(() => void configure())
  await execute(
    "insert into identities (user_id, provider, extern_uid) values (?, 'corp', 'uid=x'), (?, 'company', ?)",
    [user.id, user.id, `subject of ${user.id}`]
  )
  const page = await browser.get('/profile/identities')
  t.notMatch(page.body, /corp\/disconnect/)
  const token = Object.fromEntries(formIn(page.body, 'company/disconnect').fields)
  const refused = await browser.post('/profile/identities/corp/disconnect', token)
  t.equal(refused.status, 409)
  t.match(refused.body, /Only an administrator disconnects an account of a directory/)
  t.match((await browser.get('/profile/password')).body, /the password of your organization: change it there/)

  await execute("delete from identities where user_id = ? and provider = 'corp'", [user.id])
  load(false)
  const last = await browser.submit(await browser.get('/profile/identities'), 'company/disconnect')
  t.equal(last.status, 409)
  t.match(last.body, /You could not sign in without it/)
})

t.test('the last way in stays', async t => {
  configure()
  const fay = person()
  const { browser } = await signIn(fay.sub)
  const refused = await browser.submit(await browser.get('/profile/identities'), 'company/disconnect')
  t.equal(refused.status, 409)
  t.match(refused.body, /You could not sign in without it/)
  t.ok(await userOf(fay.sub))
})

t.test('of two ways in that somebody disconnects at once, one stays', async t => {
  configure({}, { other: { ...settings, label: 'Other' } })
  const una = person()
  const { browser } = await signIn(una.sub)
  const user = await userOf(una.sub)
  await execute("insert into identities (user_id, provider, extern_uid) values (?, 'other', 'una')", [user?.id ?? 0])
  const page = await browser.get('/profile/identities')
  const answers = await Promise.all(['company', 'other'].map(name => browser.submit(page, `${name}/disconnect`)))
  t.same(answers.map(({ status }) => status).sort(), [303, 409])
  t.match(await rows('select provider from identities where user_id = ?', [user?.id ?? 0]), { length: 1 })
})

t.test('first sign-ins at once make one account', async t => {
  configure()
  const vic = person()
  const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(vic.sub)))
  t.same(
    answers.map(({ answer }) => [answer.status, answer.location]),
    answers.map(() => [303, '/'])
  )
  t.match(await rows('select 1 from identities where extern_uid = ?', [vic.sub]), { length: 1 })
})

t.test('an account follows the address at the provider until somebody changes it here', async t => {
  configure()
  const wim = person()
  await signIn(wim.sub)
  const move = async (email: string, more: object = {}) => {
    provider.people.set(wim.sub, { ...wim, email, ...more })
    await signIn(wim.sub)
    return (
      await row<{ email: string }>(
        'select u.email from users u join identities i on i.user_id = u.id where i.extern_uid = ?',
        [wim.sub]
      )
    )?.email
  }
  t.equal(await move('wim.new@company.example'), 'wim.new@company.example')
  t.equal(await move('wim.x@company.example', { email_verified: false }), 'wim.new@company.example', 'not verified')
  const other = await app.make.user()
  t.equal(await move(other.email), 'wim.new@company.example', 'somebody has it')
  const id = (await userOf(wim.sub))?.id
  await app.as(await app.make.admin()).put(`/users/${id}`, { email: 'wim@home.example' })
  t.equal(await move('wim.newest@company.example'), 'wim@home.example')
})

t.test('signing out opens the page of the provider that ends its session', async t => {
  const xia = person()
  const out = async () => {
    const { browser } = await signIn(xia.sub)
    return browser.submit(await browser.get('/profile'), '/users/sign_out')
  }
  configure()
  t.equal((await out()).location, '/users/sign_in')
  configure({ end_session: true })
  const answer = await out()
  const [, to = ''] = /^0; url=(.*)$/.exec(answer.headers.get('refresh') ?? '') ?? []
  const url = new URL(to)
  t.equal(url.origin, new URL(provider.issuer).origin)
  t.equal(url.searchParams.get('client_id'), 'gitstead')
  t.equal(url.searchParams.get('post_logout_redirect_uri'), `${base}/users/sign_in`)
  t.match(answer.headers.getSetCookie(), [/^_service_session=;/])
  const user = await app.make.user()
  const browser = new Browser(base)
  await browser.signIn(user)
  t.equal((await browser.submit(await browser.get('/profile'), '/users/sign_out')).location, '/users/sign_in')
})

t.test('a page elsewhere signs nobody in', async t => {
  configure()
  const path = '/users/auth/company?return_to=%2Fprofile'
  for (const site of ['cross-site', 'same-site']) {
    const browser = new Browser(base)
    const answer = await browser.get(path, { 'sec-fetch-site': site })
    t.equal(answer.location, '/users/sign_in?return_to=%2Fprofile', site)
    t.notOk(browser.cookies.has('_service_provider'))
  }
  for (const site of ['same-origin', 'none'])
    t.match((await new Browser(base).get(path, { 'sec-fetch-site': site })).location, provider.issuer, site)
})

t.test('the provider ends sessions', async t => {
  configure()
  const gil = person()
  const [one, two] = [await signIn(gil.sub), await signIn(gil.sub)]
  const { id = 0 } = (await userOf(gil.sub)) ?? {}
  const isIn = async ({ browser }: { browser: Browser }) => (await browser.get('/profile')).status === 200
  t.ok((await isIn(one)) && (await isIn(two)))
  const [session] = await rows<{ provider_session: string }>(
    'select provider_session from sessions where user_id = ? order by created_at',
    [id]
  )
  await provider.logOut(gil.sub, session?.provider_session)
  t.same([await isIn(one), await isIn(two)], [false, true])
  await provider.logOut(gil.sub)
  t.notOk(await isIn(two))
  await provider.logOut('unknown')
  const audited = await rows("select 1 from audit_events where action = 'session.delete' and via = 'provider'")
  t.equal(audited.length, 2)
})

t.test('a form that was refused after the session had ended is not lost', async t => {
  configure()
  const kim = person()
  const { browser } = await signIn(kim.sub)
  const profile = await browser.get('/profile')
  browser.cookies.delete('_service_session')
  const refused = await browser.submit(profile, 'action="/profile"', { bio: 'a long story' })
  t.equal(refused.status, 401)
  t.match(refused.body, /target="_blank" rel="noopener">Sign in with Company</)
  t.equal((await browser.submit(refused, 'I have signed in')).status, 401, 'not yet')
  await signIn(kim.sub, { browser })
  const asked = await browser.submit(refused, 'I have signed in')
  t.equal(asked.status, 409)
  t.equal((await browser.submit(asked, 'a long story')).status, 303)
  t.match((await browser.get('/profile')).body, /a long story/)
})

t.test('the owner gets a mail about a connected account', async t => {
  configure()
  const user = await app.make.user()
  const leo = person()
  const browser = new Browser(base)
  await browser.signIn(user)
  const begun = await browser.submit(await browser.get('/profile/identities'), 'company/connect')
  const [, to = ''] = /^0; url=(.*)$/.exec(begun.headers.get('refresh') ?? '') ?? []
  await browser.get(pathOf(await provider.signIn(to, leo.sub)))
  t.match(await userOf(leo.sub), { id: user.id })
  await app.runJobs()
  const mails = await rows("select 1 from mails where kind = 'security' and facts like ?", [`%${leo.sub}%`])
  t.equal(mails.length, 1)
})

t.test('a blocked user stays outside', async t => {
  configure()
  const hal = person()
  await signIn(hal.sub)
  const admin = app.as(await app.make.admin())
  await admin.put(`/users/${(await userOf(hal.sub))?.id}/block`)
  t.equal((await signIn(hal.sub)).answer.status, 403)
})

t.test('nothing but local paths is opened afterwards', async t => {
  configure()
  const ian = person()
  for (const path of [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/%0d%0aSet-Cookie:x'
  ]) {
    const start = `/users/auth/company?return_to=${encodeURIComponent(path)}`
    const { answer } = await signIn(ian.sub, { start })
    t.ok(answer.location === '/' || answer.location === '/%0d%0aSet-Cookie:x', path)
  }
  const long = await signIn(ian.sub, { start: `/users/auth/company?return_to=/${'x'.repeat(6000)}` })
  t.equal(long.answer.location, '/')
})

t.test('accounts that may not be created', async t => {
  configure({ create: false })
  const jan = person()
  const { answer } = await signIn(jan.sub)
  t.equal(answer.status, 403)
  t.match(answer.body, /Nobody here is connected with your account at Company/)
})

t.test('people who have a second factor are asked for it, unless the provider has checked one', async t => {
  configure()
  const kim = person()
  await signIn(kim.sub)
  const user = await userOf(kim.sub)
  const { secret } = await giveApp({ ...kim, ...user } as never)
  t.equal((await signIn(kim.sub)).answer.location, '/users/sign_in/two_factor')
  const after = { two_factor: { after_provider: true } }
  loadConfig({ port: 0, url: base, identity: { oidc: { company: settings }, ...after } })
  const { browser, answer } = await signIn(kim.sub, { start: '/users/auth/company?return_to=%2Fprofile%2Fkeys' })
  t.equal(answer.location, '/users/sign_in/two_factor?return_to=%2Fprofile%2Fkeys')
  t.equal((await browser.get('/profile')).status, 302, 'there is no session yet')
  const step = await browser.get(answer.location ?? '')
  const done = await browser.submit(step, 'name="code"', { code: codeOf(secret) })
  t.match([done.status, done.location], [303, '/profile/keys'])
  const [session] = await rows<{ provider: string; provider_session: string; factor: string }>(
    'select provider, provider_session, factor from sessions where user_id = ? order by created_at desc limit 1',
    [user?.id ?? 0]
  )
  t.match(session, { provider: 'company', provider_session: /.+/, factor: 'totp' }, 'the provider can end it')
})

t.test('an unknown provider is not there', async t => {
  configure()
  for (const path of [
    '/users/auth/other',
    '/users/auth/other/callback',
    '/users/auth/constructor',
    '/users/auth/__proto__'
  ]) {
    t.equal((await new Browser(base).get(path)).status, 404, path)
  }
})
