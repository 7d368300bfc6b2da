// The account pages: what users change themselves, as a browser without scripts sees them.
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'
import { mailbox } from '../../../helpers/mails.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()
const signedIn = async (user: TestUser) => {
  const browser = new Browser(base)
  t.equal((await browser.signIn(user)).status, 303)
  return browser
}
const HOSTILE = '"><script>alert(1)</script><b>'
const isSafe = (body: string) => !body.includes('<script>alert') && !body.includes('><b>')

t.test('visitors are sent to the sign-in page, and come back', async t => {
  const browser = new Browser(base)
  t.equal((await browser.get('/profile/keys?x=1')).location, '/users/sign_in?return_to=%2Fprofile%2Fkeys%3Fx%3D1')
  const sent = await browser.post('/profile', { name: 'x' })
  t.equal(sent.status, 401, 'what was written is kept until the visitor has signed in')
  const project = await app.make.project({ visibility_level: 0 })
  const path = (await app.as(project.owner).get(`/projects/${project.id}`)).json().path_with_namespace
  const stranger = await signedIn(await app.make.user())
  for (const place of [path, `${path}-no`, 'groups/no-such-group'])
    t.equal((await stranger.get(`/${place}/notification_setting`)).status, 404, place)
})

t.test('a profile is changed, and its fields can be emptied', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const saved = await browser.submit(await browser.get('/profile'), 'keeps_empty', {
    name: `Ada ${HOSTILE}`,
    bio: HOSTILE,
    website_url: 'https://ada.example/'
  })
  t.equal(saved.location, '/profile?saved=1')
  const page = await browser.get('/profile?saved=1')
  t.match(page.body, 'Your profile is saved')
  t.ok(isSafe(page.body))
  const read = async () => (await app.as(user).get('/user')).json()
  t.match(await read(), { name: `Ada ${HOSTILE}`, bio: HOSTILE, website_url: 'https://ada.example/' })
  await browser.submit(page, 'keeps_empty', { name: 'Ada', bio: '', website_url: '' })
  t.match(await read(), { name: 'Ada', bio: '', website_url: '' })
  const refused = await browser.submit(page, 'keeps_empty', { name: '', location: 'Here' })
  t.equal(refused.status, 400)
  t.match(refused.body, /id="name-error">Name can&#39;t be blank/)
  t.match(refused.body, 'value="Here"', 'what was entered stays')
  const before = await read()
  const { authenticity_token } = Object.fromEntries(
    [...page.body.matchAll(/name="(authenticity_token)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
  )
  await browser.post('/profile', {
    authenticity_token,
    name: 'Eve',
    admin: 'true',
    username: 'root2',
    projects_limit: '99',
    email: 'eve@example.org',
    can_create_group: 'true'
  })
  t.same(await read(), { ...before, name: 'Eve' }, 'only the fields of the form are changed')
})

t.test('a password is changed with the current one, and other sessions end', async t => {
  const user = await app.make.user()
  const [browser, other] = [await signedIn(user), await signedIn(user)]
  const page = await browser.get('/profile/password')
  const values = { current_password: user.password, password: 'correct horse battery' }
  const wrong = await browser.submit(page, 'current_password', { ...values, current_password: 'guess' })
  t.equal(wrong.status, 400)
  t.match(wrong.body, /id="current_password-error">Current password is wrong/)
  t.notMatch(wrong.body, 'correct horse')
  const short = await browser.submit(page, 'current_password', { ...values, password: 'short' })
  t.match(short.body, /id="password-error">New password is too short/)
  t.equal((await other.get('/profile')).status, 200, 'nothing has changed')
  const changed = await browser.submit(page, 'current_password', values)
  t.equal(changed.location, '/profile/password?saved=1')
  t.match((await browser.get('/profile/password?saved=1')).body, 'Your password is changed')
  t.equal((await other.get('/profile')).status, 302, 'the other browser is signed out')
  t.equal((await new Browser(base).signIn(user)).status, 401)
  t.equal((await new Browser(base).signIn({ ...user, password: values.password })).status, 303)
  const mail = (await mails()).find(({ to }) => to === user.email)
  t.match(mail, { subject: /password of your account was changed/, text: /\/users\/password\/new\n/ })
  const last = await browser.get('/profile/password')
  for (let guess = 0; guess < 10; guess++)
    await browser.submit(last, 'current_password', { ...values, current_password: `guess ${guess}` })
  const limited = await browser.submit(last, 'current_password', { ...values, current_password: 'guess' })
  t.equal(limited.status, 429, 'guesses are limited')
  await execute('delete from password_attempts')
})

t.test('SSH keys are added and deleted', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const key = newKey()
  t.match((await browser.get('/profile/keys')).body, /class="empty">You have no keys/)
  const add = async (values: Record<string, string>) =>
    browser.submit(await browser.get('/profile/keys'), 'Public key', values)
  t.equal((await add({ key, title: HOSTILE })).status, 303)
  const page = await browser.get('/profile/keys')
  t.ok(isSafe(page.body))
  const [stored] = (await app.as(user).get('/user/keys')).json()
  t.match(stored, { title: HOSTILE })
  t.match(await mails(), [{ to: user.email, text: /\/profile\/keys\n/ }])
  const again = await add({ key, title: 'again' })
  t.equal(again.status, 400)
  t.match(again.body, /id="key-error">The key has already been taken/)
  t.match(again.body, 'value="again"')
  t.match((await add({ key: 'ssh-rsa nonsense', title: 'x' })).body, 'The key cannot be read: paste the whole line')
  t.match((await add({ key: '-----BEGIN OPENSSH PRIVATE KEY-----\nabc', title: 'x' })).body, /private/)
  const stranger = await signedIn(await app.make.user())
  const foreign = await stranger.submit(await stranger.get('/profile/keys'), 'Public key', { key: '' })
  t.equal(foreign.status, 400)
  const token = /name="authenticity_token" value="([^"]*)"/.exec(foreign.body)?.[1] ?? ''
  await stranger.post(`/profile/keys/${stored.id}/delete`, { authenticity_token: token })
  t.equal((await app.as(user).get('/user/keys')).json().length, 1, 'not by others')
  t.equal((await browser.submit(page, `/profile/keys/${stored.id}/delete`)).status, 303)
  t.same((await app.as(user).get('/user/keys')).json(), [])
  const short = await add({ key: `${key.split(' ').slice(0, 2).join(' ')} ada@laptop` })
  t.equal(short.status, 303, short.body)
  t.match((await app.as(user).get('/user/keys')).json(), [{ title: 'ada@laptop' }], 'the comment is the title')
})

t.test('addresses are added, confirmed by mail, and deleted', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const email = `more-${user.email}`
  const add = async (value: string) =>
    browser.submit(await browser.get('/profile/emails'), 'action="/profile/emails"', { email: value })
  t.equal((await add(email)).status, 303)
  const page = await browser.get('/profile/emails')
  t.match(page.body, `<span>${user.email}</span>`)
  t.match(page.body, `<span>${email}</span>`)
  t.match(page.body, 'not confirmed')
  const got = await mails()
  t.match(
    got.find(({ to }) => to === user.email),
    { text: /\/profile\/emails\n/ }
  )
  const again = await browser.submit(page, '/confirm')
  t.equal(again.location, '/profile/emails?sent=1')
  const link = (await mails()).find(({ to }) => to === email)?.link ?? ''
  t.equal((await browser.submit(await browser.get(link), 'Confirm the address')).status, 200)
  t.notMatch((await browser.get('/profile/emails')).body, 'not confirmed')
  const taken = await add(user.email)
  t.equal(taken.status, 400)
  t.match(taken.body, /id="email-error">Address has already been taken/)
  t.match((await add(HOSTILE)).body, /id="email-error">Address is invalid/)
  t.ok(isSafe((await add(HOSTILE)).body))
  t.equal((await browser.submit(await browser.get('/profile/emails'), '/delete')).status, 303)
  t.same((await app.as(user).get('/user/emails')).json(), [])
})

t.test('notification levels: everywhere, for a project, and for a group', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const project = await app.make.project({ visibility_level: 0 })
  await app.make.member(project, DEVELOPER, user)
  const { path_with_namespace: path } = (await app.as(user).get(`/projects/${project.id}`)).json()
  const group = await app.make.group({ visibilityLevel: 20 })
  const start = await browser.get('/profile/notifications')
  t.match(start.body, /value="participating" checked/)
  t.match(start.body, /class="empty"/)
  const global = await browser.submit(start, 'action="/profile/notifications"', {
    level: 'custom',
    'events[]': 'close_issue',
    notification_email: user.email
  })
  t.equal(global.location, '/profile/notifications?saved=1')
  t.match((await app.as(user).get('/notification_settings')).json(), {
    level: 'custom',
    events: { close_issue: true, new_issue: false }
  })
  t.match((await browser.get('/profile/notifications')).body, /value="close_issue" checked/)
  const stranger = await app.make.user()
  const foreign = await browser.submit(start, 'action="/profile/notifications"', { notification_email: stranger.email })
  t.equal(foreign.status, 400)
  t.match(foreign.body, /id="notification_email-error"/)
  for (const [place, api] of [
    [path, `/projects/${project.id}`],
    [`groups/${group.path}`, `/groups/${group.id}`]
  ]) {
    const found = await browser.get(
      `/profile/notifications?of=${encodeURIComponent(String(place).replace('groups/', ''))}`
    )
    t.equal(found.location, `/${place}/notification_setting`)
    const page = await browser.get(`/${place}/notification_setting`)
    t.match(page.body, /value="global" checked/)
    t.match(page.body, `href="/${place}/notification_setting" aria-current="page"`)
    t.equal((await browser.submit(page, '/notification_setting"', { level: 'watch' })).status, 303)
    t.match((await app.as(user).get(`${api}/notification_settings`)).json(), { level: 'watch' })
  }
  const list = await browser.get('/profile/notifications')
  t.match(list.body, `href="/${path}/notification_setting">${path}</a>`)
  t.match(list.body, `href="/groups/${group.path}/notification_setting">${group.path}</a>`)
  t.equal(
    (
      await browser.submit(await browser.get(`/${path}/notification_setting`), '/notification_setting"', {
        level: 'nonsense'
      })
    ).status,
    400
  )
  await app.as(project.owner).delete(`/projects/${project.id}/members/${user.id}`)
  t.notMatch((await browser.get('/profile/notifications')).body, path, 'a place that the user cannot see any more')
  for (const wrong of ['../../evil', '//evil.example', path, 'no-such-group']) {
    const page = await browser.get(`/profile/notifications?${new URLSearchParams({ of: wrong })}`)
    t.equal(page.status, 404)
    t.match(page.body, 'There is no project or group with this path')
    t.match(page.body, `value="${wrong}" aria-invalid="true"`)
  }
})

t.test('to-dos are listed, filtered, and marked as done', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const project = await app.make.project({ visibility_level: 20 })
  await app.make.member(project, DEVELOPER, user)
  t.match((await browser.get('/dashboard/todos')).body, /class="empty">There is nothing to do/)
  const owner = app.as(project.owner)
  const issues = `/projects/${project.id}/issues`
  const first = (await owner.post(issues, { title: HOSTILE, assignee_id: user.id })).json()
  const second = (await owner.post(issues, { title: 'Second' })).json()
  await owner.post(`${issues}/${second.id}/notes`, { body: `${HOSTILE} @${user.username}` })
  await app.runJobs()
  const few = await countStatements(() => app.as(user).get('/todos'))
  t.ok(few > 0)
  const page = await browser.get('/dashboard/todos')
  t.ok(isSafe(page.body))
  t.match(page.body, `href="${new URL(first.web_url).pathname}"`)
  t.match(page.body, `href="${new URL(second.web_url).pathname}#note_`)
  t.match(page.body, 'Mark all 2 as done')
  const assigned = await browser.get('/dashboard/todos?type=&action=assigned')
  t.match(assigned.body, 'Mark all 1 as done')
  t.notMatch(assigned.body, 'Second')
  const stranger = await signedIn(await app.make.user())
  const { id } = (await app.as(user).get('/todos')).json()[0]
  const token = /name="authenticity_token" value="([^"]*)"/.exec((await stranger.get('/profile')).body)?.[1] ?? ''
  t.equal((await stranger.post(`/dashboard/todos/${id}/done`, { authenticity_token: token })).status, 404)
  t.equal((await browser.submit(page, `/dashboard/todos/${id}/done`)).status, 303)
  t.equal((await app.as(user).get('/todos')).json().length, 1)
  t.match((await browser.get('/dashboard/todos?state=done')).body, 'Second')
  t.equal((await browser.submit(page, '/dashboard/todos/done')).status, 303)
  t.same((await app.as(user).get('/todos')).json(), [])
  t.equal((await browser.get('/dashboard/todos?state=nonsense')).status, 400)
})

t.test('a long text that is sent after the session has ended is kept while its author signs in', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const page = await browser.get('/snippets/new')
  await execute('delete from sessions where user_id = ?', [user.id])
  const content = '"\u20ac'.repeat(300_000)
  const asked = await browser.submit(page, 'action="/snippets"', { title: 'Long', file_name: 'a.txt', content })
  t.equal(asked.status, 401)
  const again = await browser.submit(asked, '/users/sign_in', { login: user.username, password: user.password })
  t.equal(again.status, 200)
  t.ok(again.body.includes(`\n${content.replaceAll('"', '&quot;')}</textarea>`))
})

t.test('a form that is sent after the session has ended keeps no password', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const page = await browser.get('/profile/password')
  await execute('delete from sessions where user_id = ?', [user.id])
  const values = { current_password: user.password, password: 'correct horse battery' }
  const asked = await browser.submit(page, 'current_password', values)
  t.equal(asked.status, 401)
  t.notMatch(asked.body, 'correct horse')
  t.notMatch(asked.body, user.password)
  t.ok(await row('select 1 from users where id = ?', [user.id]))
  t.same(await rows("select id from audit_events where action = 'user.password' and target_id = ?", [user.id]), [])
})
