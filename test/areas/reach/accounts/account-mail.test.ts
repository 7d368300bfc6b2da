// Mail about accounts and memberships: its recipients, its causes, and people who get none.
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, MASTER, OWNER, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { cli } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import { mailbox } from '../../../helpers/mails.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const root = await app.make.admin()
const admin = app.as(root)
const mails = mailbox()
const brief = async () => (await mails()).map(({ to, subject }) => ({ to, subject }))
const signIn = (user: { username: string; password: string }, address: string) =>
  app.nobody.inject({
    method: 'POST',
    url: '/api/v3/session',
    remoteAddress: address,
    payload: { login: user.username, password: user.password }
  })

t.beforeEach(() => mails())

t.test(
  'the owner of an account gets mail about each change, and the mail says whether an administrator made it',
  async t => {
    const user = await app.make.user()
    const own = app.as(user)
    const cases: [what: () => Promise<unknown>, subject: string, text: RegExp, foreign: boolean][] = [
      [
        () => own.post('/user/keys', { title: 'lap <b>top</b>', key: newKey() }),
        'A new SSH key was added',
        /Title: lap <b>top<\/b>\nFingerprint: SHA256:/,
        false
      ],
      [
        () => admin.post(`/users/${user.id}/keys`, { title: 'k', key: newKey() }),
        'A new SSH key was added',
        /SHA256:/,
        true
      ],
      [
        () => own.post('/personal_access_tokens', { name: 'ci' }),
        'A personal access token was made',
        /Name: ci/,
        false
      ],
      [
        () => app.as(root, { sudo: user.username }).post('/personal_access_tokens', { name: 'sudo' }),
        'A personal access token was made',
        /Name: sudo/,
        true
      ],
      [
        () => admin.put(`/users/${user.id}`, { password: 'quite another one' }),
        'The password of your account was changed',
        /sessions have ended/,
        true
      ]
    ]
    for (const [change, subject, text, foreign] of cases) {
      await change()
      const [mail, ...others] = await mails()
      t.same(others, [])
      t.match(mail, { to: user.email, subject: new RegExp(`^${subject}`), text })
      t.match(mail?.text, /\nTime: \d{4}-/)
      t.equal(/by an administrator/.test(mail?.text ?? ''), foreign, subject)
      t.equal(/by an administrator/.test(mail?.html ?? ''), foreign, subject)
      t.notMatch(mail?.html, '<b>top')
    }
  }
)

t.test('a new address is confirmed by mail, and the previous addresses get mail about it', async t => {
  const user = await app.make.user()
  const [first, second, third, primary] = ['one', 'two', 'three', 'new'].map(
    name => `${name}-of-${user.username}@example.org`
  )
  const added = 'A new email address was added to your account'
  const confirm = 'Confirm your email address'
  await app.as(user).post('/user/emails', { email: first })
  t.same(await brief(), [
    { to: first, subject: confirm },
    { to: user.email, subject: added }
  ])
  await app.as(user).post('/user/emails', { email: second })
  t.same(
    await brief(),
    [
      { to: second, subject: confirm },
      { to: user.email, subject: added }
    ],
    'an unconfirmed address gets no mail'
  )
  await execute('update emails set confirmed_at = now() where email in (?, ?)', [first ?? '', second ?? ''])
  await admin.post(`/users/${user.id}/emails`, { email: third })
  const told = await mails()
  t.match(
    told.map(({ to }) => to),
    [first, third, second, user.email].sort()
  )
  for (const mail of told.filter(({ subject }) => subject === added)) t.match(mail.text, /by an administrator/)

  await admin.put(`/users/${user.id}`, { email: primary })
  const changed = 'The email address of your account was changed'
  t.same(
    await brief(),
    [{ to: primary, subject: confirm }, ...[first, second, user.email].map(to => ({ to, subject: changed }))].sort(
      (one, other) => String(one.to).localeCompare(String(other.to))
    )
  )
  t.match((await app.as(user).get('/user')).json(), { email: primary })
  t.equal((await signIn(user, '127.0.0.1')).statusCode, 201, 'the user may sign in')
  // A confirmed address becomes the primary one.
  await admin.put(`/users/${user.id}`, { email: second })
  t.notMatch(
    (await brief()).map(({ subject }) => subject),
    confirm
  )
  t.match(await row('select email_confirmed_at from users where id = ?', [user.id]), { email_confirmed_at: Date })
})

t.test('the owner gets mail about a sign-in from an address that was not seen for 90 days', async t => {
  const user = await app.make.user()
  const from = async (address: string) => {
    t.equal((await signIn(user, address)).statusCode, 201)
    return (await mails()).map(({ to, text }) => [to, /Address: (.*)/.exec(text)?.[1]])
  }
  t.same(await from('192.0.2.1'), [], 'the first sign-in of an account')
  t.same(await from('192.0.2.1'), [])
  t.same(await from('192.0.2.2'), [[user.email, '192.0.2.2']])
  t.same(await from('192.0.2.2'), [])
  t.same(await from('2001:db8::1'), [[user.email, '2001:db8::1']])
  t.same(await from('2001:db8::ffff'), [], 'the same network')
  await signIn({ ...user, password: 'wrong' }, '192.0.2.3')
  t.same(await mails(), [], 'a wrong password is not a sign-in')
  const seen = await rows<{ network: string }>(
    'select network from sign_in_addresses where user_id = ? order by network',
    [user.id]
  )
  t.same(
    seen.map(({ network }) => network),
    ['192.0.2.1', '192.0.2.2', '2001:db8:0:0::/64']
  )
})

t.test('the number of sign-in addresses is limited, and forgotten ones count as new again', async t => {
  const user = await app.make.user()
  const values = Array.from({ length: 120 }, (_, at) => [
    user.id,
    `198.51.100.${at}`,
    new Date(Date.now() - at * 86_400_000)
  ])
  await execute(
    `insert into sign_in_addresses (user_id, network, seen_at) values ${values.map(() => '(?, ?, ?)').join(', ')}`,
    values.flat()
  )
  await signIn(user, '198.51.100.5')
  t.same(await mails(), [])
  await signIn(user, '198.51.100.100')
  t.match(await mails(), [{ subject: 'Somebody signed in to your account from a new address' }])
  await signIn(user, '198.51.100.200')
  t.match(await row('select count(*) as total from sign_in_addresses where user_id = ?', [user.id]), { total: 100 })
  const kept = await row('select 1 as kept from sign_in_addresses where user_id = ? and network = ?', [
    user.id,
    '198.51.100.100'
  ])
  t.match(kept, { kept: 1 })
})

t.test('members get mail when others change their membership', async t => {
  const project = await app.make.project()
  const group = await app.make.group({ owner: project.owner })
  const user = await app.make.user()
  const owner = app.as(project.owner)
  const cases: [what: () => Promise<{ statusCode: number }>, subject: string | RegExp][] = [
    [
      () => owner.post(`/projects/${project.id}/members`, { user_id: user.id, access_level: DEVELOPER }),
      `You are now Developer of ${project.path}`
    ],
    [
      () => owner.put(`/projects/${project.id}/members/${user.id}`, { access_level: MASTER }),
      `Your access to ${project.path} has changed`
    ],
    [
      () => owner.post(`/groups/${group.id}/members`, { user_id: user.id, access_level: OWNER }),
      `You are now Owner of ${group.path}`
    ]
  ]
  for (const [change, subject] of cases) {
    t.match((await change()).statusCode, /20[01]/)
    const [mail, ...others] = await mails()
    t.same(others, [])
    t.match(mail, { to: user.email, subject })
    t.match(mail?.text, project.owner.name)
  }
  await owner.put(`/projects/${project.id}/members/${user.id}`, { access_level: MASTER })
  t.same(await mails(), [], 'nothing has changed')
  await app.as(user).put(`/groups/${group.id}/members/${user.id}`, { access_level: MASTER })
  t.same(await mails(), [], 'users get no mail about their own actions')
  await app.as(user).post('/groups', { name: 'mine', path: 'mine' })
  t.same(await mails(), [])
})

t.test('approvers get mail about access requests, and requesters about the decision', async t => {
  const group = await app.make.group({ requestAccess: true, visibilityLevel: 20 })
  const owner = await app.make.groupMember(group, OWNER)
  const master = await app.make.groupMember(group, MASTER)
  const project = await app.make.project({ group, owner, visibility_level: 20, request_access_enabled: true })
  const local = await app.make.member(project, MASTER)
  await app.make.member(project, DEVELOPER)
  await app.make.groupMember(group, OWNER, undefined, '2020-01-01')
  const [asker, other] = [await app.make.user(), await app.make.user()]
  await mails()
  await app.as(asker).post(`/groups/${group.id}/access_requests`)
  t.match(await mails(), [
    { to: owner.email, subject: `${asker.name} (${asker.username}) asks for access to ${group.path}` }
  ])
  t.equal((await app.as(other).post(`/projects/${project.id}/access_requests`)).statusCode, 201)
  t.same((await mails()).map(({ to }) => to).sort(), [local.email, master.email, owner.email].sort())

  await app.as(owner).delete(`/groups/${group.id}/access_requests/${asker.id}`)
  t.match(await mails(), [
    { to: asker.email, subject: `Your request for access to ${group.path} was denied`, text: new RegExp(owner.name) }
  ])
  await app.as(owner).put(`/projects/${project.id}/access_requests/${other.id}/approve`, { access_level: REPORTER })
  t.match(await mails(), [{ to: other.email, subject: `You are now Reporter of ${project.path}` }])
  await app.as(asker).post(`/groups/${group.id}/access_requests`)
  await mails()
  await app.as(asker).delete(`/groups/${group.id}/access_requests/${asker.id}`)
  t.same(await mails(), [], 'a withdrawn request causes no mail')
})

t.test('members whose level is not disabled get mail when their project moves', async t => {
  const group = await app.make.group()
  const mover = await app.make.groupMember(group, OWNER)
  const project = await app.make.project({ group, owner: mover })
  const [guest, off, offHere, blocked, unconfirmed, elsewhere] = await Promise.all(
    Array.from({ length: 6 }, () => app.make.member(project, GUEST))
  )
  const member = await app.make.groupMember(group, DEVELOPER)
  if (!guest || !off || !offHere || !blocked || !unconfirmed || !elsewhere) throw new Error('members are missing')
  await app.as(off).put('/notification_settings', { level: 'disabled' })
  await app.as(offHere).put(`/groups/${group.id}/notification_settings`, { level: 'disabled' })
  await app.as(guest).put(`/groups/${group.id}/notification_settings`, { level: 'disabled' })
  await app.as(guest).put(`/projects/${project.id}/notification_settings`, { level: 'mention' })
  await admin.put(`/users/${blocked.id}/block`)
  await execute('update users set email_confirmed_at = null where id = ?', [unconfirmed.id])
  await app.as(elsewhere).post('/user/emails', { email: 'elsewhere@example.org' })
  await execute("update emails set confirmed_at = now() where email = 'elsewhere@example.org'")
  await app.as(elsewhere).put('/notification_settings', { notification_email: 'elsewhere@example.org' })
  await mails()
  await app.as(mover).put(`/projects/${project.id}`, { path: 'moved-away' })
  const told = await mails()
  t.same(told.map(({ to }) => to).sort(), ['elsewhere@example.org', guest.email, member.email].sort())
  t.match(told, [{ subject: `${project.path} was moved to ${group.path}/moved-away` }])
  const target = await app.make.group()
  await admin.post(`/groups/${target.id}/projects/${project.id}`)
  t.match(await mails(), [{ subject: `${group.path}/moved-away was moved to ${target.path}/moved-away` }])
})

t.test('a group that gets another path causes one mail for each person, not one for each project', async t => {
  const group = await app.make.group()
  const owner = await app.make.groupMember(group, OWNER)
  const member = await app.make.groupMember(group, DEVELOPER)
  await app.make.project({ group, owner })
  const guest = await app.make.member(await app.make.project({ group, owner }), GUEST)
  await mails()
  await app.as(owner).put(`/groups/${group.id}`, { path: 'renamed-group' })
  const told = await mails()
  t.same(told.map(({ to }) => to).sort(), [member.email, guest.email].sort())
  t.match(told, [
    {
      subject: `${group.path} was moved to renamed-group`,
      text: /moved all projects of .* to renamed-group\.\n[\s\S]*git remote set-url origin \S+\/renamed-group\/PROJECT\.git/
    }
  ])
})

t.test('users get mail about an account that an administrator created for them, and get links by command', async t => {
  const ada = { username: 'ada', name: 'Ada', email: 'ada@example.org', password: 'a good password' }
  await admin.post('/users', ada)
  t.match(await mails(), [{ to: ada.email, subject: 'Your account ada', text: /Sign in: .*\/users\/sign_in/ }])
  const { home, databaseUrl } = await testDatabase()
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
  const run = (...args: string[]) => cli(['users', 'passwd', ...args], { environment })
  const ran = await run('ada', '--mail')
  t.equal(ran.code, 0)
  t.match(ran.stdout, 'sent a link to set a new password to ada@example.org')
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, { to: ada.email, text: /an administrator sent you this link/, link: /^\/users\/password\/edit/ })
  t.equal((await signIn(ada, '127.0.0.1')).statusCode, 201, 'the old password works until then')
  const stored = await rows<{ facts: string }>('select facts from mails')
  t.notMatch(stored.map(({ facts }) => facts).join(), /token=|argon2/, 'no secret is in the database')
  t.equal((await run('ada', '--mail', '--password-stdin')).code, 2)
  t.equal((await run('nobody-here', '--mail')).code, 3)
})
