// Invitations by mail: over real HTTP, with the mails that they send.
import { actorOf, originOf } from '../../../../src/access/actor.js'
import { updateMember } from '../../../../src/areas/people/members/members.js'
import { findMember } from '../../../../src/areas/people/members/members.queries.js'
import { findSource } from '../../../../src/areas/people/members/sources.js'
import { blockUser } from '../../../../src/areas/people/users/user-state.js'
import { invite, oldInvitations } from '../../../../src/areas/reach/accounts/invitations/invitations.js'
import { listInvitations } from '../../../../src/areas/reach/accounts/invitations/invitations.queries.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { Forbidden, Invalid, TooManyRequests } from '../../../../src/errors.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { someOrigin, type TestUser } from '../../../helpers/factory.js'
import { mailbox } from '../../../helpers/mails.js'
import t, { type Test } from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()
const root = await app.make.admin()
const owner = await app.make.user()
const group = await app.make.group({ owner })
const page = `/groups/${group.path}/group_members`
const source = { type: 'namespace', id: group.id } as const
const theSource = async () => {
  const found = await findSource(source)
  if (!found) throw new Error('no group')
  return found
}
const originOfUser = (user: TestUser) => originOf(actorOf({ ...user }, 'session'), '127.0.0.1')
const settings = (body: object) => app.as(root).put('/application/settings', body)
function configure(t: Test, accounts: object) {
  loadConfig({ port: 0, identity: { accounts } })
  t.teardown(() => void loadConfig({ port: 0 }))
}

/** Invites an address as the owner, and returns the path of the link. */
async function linkFor(address: string, terms: { access_level: number; expires_at?: string } = { access_level: 30 }) {
  await invite(await theSource(), { address, ...terms }, originOfUser(owner))
  const [mail] = (await mails()).filter(({ to }) => to === address)
  return mail?.link ?? ''
}
async function signedIn(user: TestUser): Promise<Browser> {
  const browser = new Browser(base)
  if ((await browser.signIn(user)).status !== 303) throw new Error('not signed in')
  return browser
}
const accept = async (browser: Browser, link: string) => browser.submit(await browser.get(link), 'Accept as')
const levelOf = async ({ id }: { id: number }) => (await findMember(source, id))?.access_level

t.beforeEach(async () => {
  await execute('delete from password_attempts')
  await execute('delete from invitations')
  await mails()
})

t.test('an owner invites on the page of the members, and the person accepts once', async t => {
  const guest = await app.make.user()
  const browser = await signedIn(owner)
  const values = { email: guest.email, access_level: '20', expires_at: '2099-01-31' }
  t.equal((await browser.submit(await browser.get(page), 'Send the invitation', values)).status, 303)
  t.match((await browser.get(page)).body, guest.email)
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, {
    to: guest.email,
    subject: `${owner.name} invites you to ${group.path}`,
    text: /with the level Reporter until 2099-01-31/
  })
  const link = mail?.link ?? ''
  const visitor = new Browser(base)
  const shown = await visitor.get(link)
  t.match(shown.body, `<strong>${group.path}</strong>`)
  t.equal(shown.headers.get('cache-control'), 'no-store')
  t.match(shown.body, /return_to=%2Finvitations%3Ftoken%3D/)
  t.equal(await levelOf(guest), undefined, 'only opening the link does nothing')
  const mine = await signedIn(guest)
  t.equal((await accept(mine, link)).location, `/groups/${group.path}`)
  t.match(await findMember(source, guest.id), { access_level: 20, expires_at: '2099-01-31' })
  t.equal((await mine.get(link)).status, 403, 'the link works once')
  t.same(await listInvitations(source), [])
  const audited = await rows<{ action: string; actor_name: string }>(
    "select action, actor_name from audit_events where action like 'invitation.%' and target_name = ? order by id",
    [group.path]
  )
  t.same(audited, [
    { action: 'invitation.create', actor_name: owner.username },
    { action: 'invitation.accept', actor_name: guest.username }
  ])
})

t.test('a forwarded link lets no other account in, unless it confirms the address', async t => {
  const [invited, other] = [await app.make.user(), await app.make.user()]
  const link = await linkFor(invited.email)
  const browser = await signedIn(other)
  const shown = await browser.get(link)
  t.match(shown.body, 'this account does not have the address')
  t.notMatch(shown.body, 'Accept as')
  const token = new URL(link, base).searchParams.get('token') ?? ''
  const form = await browser.get('/users/password/new')
  const open = /name="authenticity_token" value="([^"]+)"/.exec(form.body)?.[1] ?? ''
  t.equal((await browser.post('/invitations', { token, authenticity_token: open })).status, 403)
  t.equal(await levelOf(other), undefined)
  // An address that the account has entered and not confirmed proves nothing.
  const free = 'free-address@example.org'
  const second = await linkFor(free)
  await execute('insert into emails (user_id, email, created_at) values (?, ?, ?)', [other.id, free, new Date()])
  t.notMatch((await browser.get(second)).body, 'Accept as')
  await execute('update emails set confirmed_at = ? where email = ?', [new Date(), free])
  t.equal((await accept(browser, second)).status, 303)
  t.equal(await levelOf(other), 30)
})

t.test('a changed, tampered, withdrawn or expired link does not work', async t => {
  const guest = await app.make.user()
  const browser = await signedIn(guest)
  const first = await linkFor(guest.email, { access_level: 40 })
  const second = await linkFor(guest.email, { access_level: 10 })
  t.equal((await browser.get(first)).status, 403, 'a second invitation replaces the first')
  const url = new URL(second, base)
  const [body = '', signature] = (url.searchParams.get('token') ?? '').split('.')
  const values = JSON.parse(Buffer.from(body, 'base64url').toString())
  values[0].id += 1
  const changed = `${Buffer.from(JSON.stringify(values)).toString('base64url')}.${signature}`
  t.equal((await browser.get(`/invitations?token=${changed}`)).status, 403)
  t.equal((await browser.get('/invitations?token=x')).status, 403)
  await execute('update invitations set access_level = 50')
  t.equal((await browser.get(second)).status, 403, 'the level is part of the proof')
  await execute('update invitations set access_level = 10')
  t.equal((await browser.get(second)).status, 200)
  await execute('update invitations set created_at = created_at - interval 15 day')
  t.equal((await browser.get(second)).status, 403)
  const { signal } = new AbortController()
  await oldInvitations.run({ dryRun: false, signal, count: () => undefined, note: () => undefined })
  t.same(await rows('select id from invitations'), [])

  const third = await linkFor(guest.email)
  const owners = await signedIn(owner)
  t.equal((await owners.submit(await owners.get(page), '/revoke')).status, 303)
  t.equal((await browser.get(third)).status, 403)
  t.equal(await levelOf(guest), undefined)
})

t.test('an invitation ends with the right of the person who sent it', async t => {
  const [guest, helper] = [await app.make.user(), await app.make.user()]
  await app.make.groupMember(group, 50, helper)
  await invite(await theSource(), { address: guest.email, access_level: 50 }, originOfUser(helper))
  const link = (await mails()).find(({ to }) => to === guest.email)?.link ?? ''
  const browser = await signedIn(guest)
  t.equal((await browser.get(link)).status, 200)
  await updateMember(await theSource(), helper.id, { access_level: 40 }, someOrigin)
  t.equal((await browser.get(link)).status, 403)
  await updateMember(await theSource(), helper.id, { access_level: 50 }, someOrigin)
  await blockUser(helper.id, someOrigin)
  t.equal((await browser.get(link)).status, 403)

  const project = await app.make.project({ owner })
  const master = await app.make.member(project, 40)
  const found = await findSource({ type: 'project', id: project.id })
  if (!found) throw new Error('no project')
  await invite(found, { address: guest.email, access_level: 30 }, originOfUser(master))
  const second = (await mails()).find(({ to }) => to === guest.email)?.link ?? ''
  t.equal((await browser.get(second)).status, 200)
  await updateMember(found, master.id, { access_level: 30 }, someOrigin)
  t.equal((await browser.get(second)).status, 403)
})

t.test('a person without an account signs up, also while others may not', async t => {
  await settings({ signup_enabled: false })
  t.teardown(() => settings({ signup_enabled: true }))
  const link = await linkFor('new-person@example.org')
  const browser = new Browser(base)
  t.notMatch((await browser.get(link)).body, 'Create an account')
  const person = { username: 'new-person', name: 'New <b>', password: 'correct horse battery' }
  configure(t, { invited_sign_up: true })
  const form = await browser.get(link)
  const easy = await browser.submit(form, 'Sign up and accept', { ...person, password: 'new-person' })
  t.equal(easy.status, 400)
  t.match(easy.body, /too easy to guess/)
  const taken = await browser.submit(form, 'Sign up and accept', { ...person, username: owner.username })
  t.match([taken.status, taken.body], [409, /Username has already been taken/])
  const done = await browser.submit(form, 'Sign up and accept', person)
  t.match(done.body, 'Your account is ready')
  const user = await row<{ id: number; confirmed: number }>(
    "select id, email_confirmed_at is not null as confirmed from users where username = 'new-person'"
  )
  t.match(user, { confirmed: 1 })
  t.equal(await levelOf({ id: user?.id ?? 0 }), 30)
  const session = await app.nobody.post('/session', { login: 'new-person', password: person.password })
  t.equal(session.statusCode, 201)
  t.equal((await browser.submit(form, 'Sign up and accept', { ...person, username: 'other' })).status, 403)

  configure(t, { invited_sign_up: true, approval: true })
  const second = await linkFor('waits-too@example.org')
  const waiting = await browser.submit(await browser.get(second), 'Sign up and accept', {
    ...person,
    username: 'waits-too'
  })
  t.match(waiting.body, 'An administrator must approve your account')
  await settings({ domain_whitelist: ['example.com'] })
  t.teardown(() => settings({ domain_whitelist: [] }))
  const third = await linkFor('elsewhere@example.org')
  const refused = await browser.submit(await browser.get(third), 'Sign up and accept', {
    ...person,
    username: 'elsewhere'
  })
  t.equal(refused.status, 400)
})

t.test('invitations are limited, and need the right to change members', async t => {
  const [guest, developer] = [await app.make.user(), await app.make.user()]
  await app.make.groupMember(group, 30, developer)
  const browser = await signedIn(developer)
  t.notMatch((await browser.get(page)).body, 'Send the invitation')
  const open = /name="authenticity_token" value="([^"]+)"/.exec((await browser.get('/profile')).body)?.[1] ?? ''
  const body = { email: guest.email, access_level: '30', authenticity_token: open }
  const refused = await browser.post(`${page}/invitations`, body, { origin: base })
  t.ok([403, 404].includes(refused.status), String(refused.status))
  t.same(await listInvitations(source), [])
  const by = originOfUser(owner)
  const to = (address: string, level = 30) =>
    theSource().then(found => invite(found, { address, access_level: level }, by))
  for (const address of ['', 'nobody', 'a b@example.org', 'a@b\nbcc: c@d', `${'x'.repeat(300)}@example.org`]) {
    await t.rejects(to(address), Invalid, JSON.stringify(address.slice(0, 20)))
  }
  await t.rejects(to('level@example.org', 60), /Access level/)
  for (let sent = 0; sent < 3; sent++) await to('often@example.org')
  await t.rejects(to('OFTEN@example.org'), TooManyRequests)
  await execute('delete from password_attempts')
  const values = Array.from(
    { length: 100 },
    (_, at) => `('namespace', ${group.id}, 'm${at}@x.org', 'm${at}@x.org', 30, now())`
  )
  await execute('delete from invitations')
  await execute(
    `insert into invitations (source_type, source_id, address, address_key, access_level, created_at) values ${values.join(', ')}`
  )
  await t.rejects(to('one-more@example.org'), { message: /maximum is 100 invitations/ })
  await execute('delete from invitations')
  for (let sent = 0; sent < 46; sent++) await to(`many-${sent}@example.org`).catch(() => undefined)
  await execute('delete from invitations')
  for (let sent = 0; sent < 4; sent++) await to(`more-${sent}@example.org`).catch(() => undefined)
  await t.rejects(to('last@example.org'), TooManyRequests)
  configure(t, { invitations: false })
  await t.rejects(to('off@example.org'), Forbidden)
})
