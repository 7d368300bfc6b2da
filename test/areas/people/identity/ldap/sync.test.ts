import { blockUser } from '../../../../../src/areas/people/users/user-state.js'
import { runTask } from '../../../../../src/areas/upkeep/maintenance/maintenance.js'
import { execute, row, rows } from '../../../../../src/db/connect/sql.js'
import { testApp } from '../../../../helpers/app.js'
import { someOrigin, type TestUser } from '../../../../helpers/factory.js'
import { configureDirectory, testDirectory } from '../../../../helpers/slapd.js'
import { countStatements } from '../../../../helpers/statements.js'
import t from '../../../../helpers/tap.js'

const app = await testApp(t)
await app.make.admin()

const sync = async (dryRun = false) => runTask('ldap_sync', { dryRun }, someOrigin)
const stateOf = async (username: string) =>
  (await row<{ state: string }>('select state from users where username = ?', [username]))?.state
const passwordsOf = (login: string) =>
  app.nobody.inject({
    method: 'POST',
    url: '/api/v3/session',
    payload: { login, password: `the password of ${login}` },
    remoteAddress: '198.51.100.7'
  })

t.test('a week of two hundred people', async t => {
  const directory = await testDirectory(t)
  const { suffix } = directory
  const people = Array.from({ length: 200 }, (_, at) => `person-${String(at).padStart(3, '0')}`)
  const dns = await directory.addPeople(people)
  const groups = {
    web: await directory.addGroup('web', dns.slice(0, 60)),
    leads: await directory.addGroup('leads', dns.slice(0, 10)),
    admins: await directory.addGroup('admins', dns.slice(0, 3)),
    guests: await directory.addGroup('guests', dns.slice(190))
  }
  configureDirectory(t, directory, {
    create: 'sync',
    page_size: 30,
    attributes: { member_of: 'memberOf' },
    groups: {
      base: `ou=groups,${suffix}`,
      admin: groups.admins,
      external: groups.guests,
      members: [`${groups.web} -> web as developer`, `${groups.leads} -> web as master`]
    }
  })
  const web = await app.make.group({ path: 'web' })
  const levels = async () => {
    const found = await rows<{ access_level: number; total: number }>(
      `select access_level, count(*) as total from members m join users u on u.id = m.user_id
       where source_id = ? and provider = 'company' and u.state = 'active' group by access_level order by access_level`,
      [web.id]
    )
    return found.map(({ access_level: level, total }) => [level, Number(total)])
  }

  const sunday = await sync(true)
  t.match(sunday, { state: 'done', count: 200, report: { created: 200, changed: 0 } })
  t.equal(await stateOf('person-000'), undefined, 'a dry run changes nothing')

  const monday = await sync()
  t.match(
    monday,
    { state: 'done', count: 200, report: { people: 200, created: 200, blocked: 0 } },
    String(monday.error)
  )
  t.strictSame(await levels(), [
    [30, 50],
    [40, 10]
  ])
  t.match(
    await row("select sum(admin) as admins, sum(external) as externals from users where username like 'person-%'"),
    {
      admins: '3',
      externals: '10'
    }
  )
  let again: Awaited<ReturnType<typeof sync>> | undefined
  const statements = await countStatements(async () => {
    again = await sync()
  })
  t.match(again, { report: { created: 0, changed: 0, blocked: 0, unblocked: 0, notes: [] } })
  t.ok(statements < 60, `${statements} statements for seven pages without a change`)

  // Tuesday: ten leave, five join, three get another name, one another address.
  const gone = people.slice(100, 110)
  for (const uid of gone) await directory.remove(`uid=${uid},ou=people,${suffix}`)
  await directory.addPeople(['new-1', 'new-2', 'new-3', 'new-4', 'new-5'])
  for (const uid of people.slice(50, 53)) {
    await directory.rename(`uid=${uid},ou=people,${suffix}`, `uid=${uid}-x`)
    await directory.replace(`uid=${uid}-x,ou=people,${suffix}`, { cn: `${uid} Married` })
  }
  await directory.replace(`uid=person-060,ou=people,${suffix}`, { mail: 'Another.Name@example.org' })
  const preview = await sync(true)
  t.match(preview, { report: { created: 5, changed: 4, blocked: 10 } })
  t.ok(preview.report.notes.includes('company: person-100 has left'), preview.report.notes.join('\n'))
  t.ok(preview.report.notes.includes('company: person-060 has another address'))
  t.equal(await stateOf('person-100'), 'active')
  const tuesday = await sync()
  t.match(tuesday, { state: 'done', count: 195, report: { created: 5, changed: 4, blocked: 10, unblocked: 0 } })
  for (const uid of gone) t.equal(await stateOf(uid), 'ldap_blocked')
  t.match(
    await row("select name, email, confirmed_at is not null as confirmed from users where username = 'person-060'"),
    {
      email: 'Another.Name@example.org',
      confirmed: 1
    }
  )
  t.match(await row("select name from users where username = 'person-050'"), { name: 'person-050 Married' })

  // Wednesday: the groups move, and somebody here changes what the directory decides, and what it does not.
  await directory.replace(groups.web, { member: dns.slice(20, 40) })
  await directory.replace(groups.leads, { member: [...dns.slice(5, 10), dns[30] ?? ''] })
  await directory.replace(groups.admins, { member: [dns[3] ?? ''] })
  await execute("update users set admin = 1 where username = 'person-150'")
  await execute("update users set name = 'Changed here' where username = 'person-151'")
  const byHand = await row<{ id: number }>("select id from users where username = 'person-160'")
  await app.make.groupMember(web, 20, byHand as TestUser)
  const wednesday = await sync()
  t.match(wednesday, { state: 'done', report: { blocked: 0 } })
  t.strictSame(await levels(), [
    [30, 19],
    [40, 6]
  ])
  t.match(
    await row(
      "select group_concat(username order by username) as names from users where admin = 1 and username like 'person-%'"
    ),
    {
      names: 'person-003'
    }
  )
  t.match(await row("select name from users where username = 'person-151'"), { name: 'person-151' })
  t.match(await row('select access_level, provider from members where user_id = ?', [byHand?.id ?? 0]), {
    access_level: 20,
    provider: null
  })

  // Thursday: some are switched off, some come back with the same entry, and one whom an administrator has blocked.
  const blockedHere = await row<{ id: number }>("select id from users where username = 'person-170'")
  await blockUser(blockedHere?.id ?? 0, someOrigin)
  for (const uid of ['person-120', 'person-121']) {
    await directory.replace(`uid=${uid},ou=people,${suffix}`, {
      objectClass: ['inetOrgPerson', 'shadowAccount'],
      shadowExpire: '1'
    })
  }
  const session = await passwordsOf('person-122')
  t.equal(session.statusCode, 201)
  t.match(await sync(), { state: 'done', report: { blocked: 2, unblocked: 0 } })
  t.equal((await passwordsOf('person-120')).statusCode, 401)
  t.equal(await stateOf('person-120'), 'ldap_blocked')
  t.equal(await stateOf('person-170'), 'blocked')
  await directory.replace(`uid=person-120,ou=people,${suffix}`, { shadowExpire: '-1' })
  t.match(await sync(), { report: { blocked: 0, unblocked: 1 } })
  t.equal(await stateOf('person-120'), 'active')

  // Somebody who has used nothing for long leaves, and must not come back with a passkey.
  await execute("update users set state = 'blocked', block_reason = 'dormant' where username = 'person-180'")
  await directory.remove(`uid=person-180,ou=people,${suffix}`)
  t.match(await sync(), { report: { blocked: 1, unblocked: 0 } })
  t.equal(await stateOf('person-180'), 'ldap_blocked')

  // Friday: someone joins again with a new entry, which is another person with the same address.
  await directory.addPeople(['person-100'])
  const friday = await sync()
  t.match(friday, { state: 'done', report: { created: 0 } })
  t.ok(friday.report.notes.some(note => /person-100,.* gets no account: Email has already been taken/.test(note)))
  t.equal((await passwordsOf('person-100')).statusCode, 403)

  // Saturday: a wrong filter finds hardly anybody, the directory fails in the middle of the reading, and then it is gone.
  configureDirectory(t, directory, { filter: '(uid=person-00*)' })
  const filtered = await sync()
  t.match(filtered, {
    state: 'failed',
    error: /people with accounts are missing in the directory, and max_gone allows 20 %/
  })
  configureDirectory(t, directory, { filter: '(uid=nobody)' })
  t.match(await sync(), { state: 'failed', error: /the directory has nobody/ })
  const cut = await directory.cutAfter(t, 20_000)
  configureDirectory(t, directory, { urls: [cut], starttls: false, page_size: 10 })
  const middle = await sync()
  t.match(middle, { state: 'failed', error: /Connection closed|ECONNRESET|Socket/i })
  t.ok(middle.count > 0 && middle.count < 190, `${middle.count} were read`)
  configureDirectory(t, directory, {})
  await directory.stop()
  t.match(await sync(), { state: 'failed', error: /ECONNREFUSED/ })
  t.match(await row("select count(*) as total from users where state = 'ldap_blocked'"), { total: 12 })
  const audited = await rows<{ action: string }>(
    "select distinct action from audit_events where actor_name = 'company' order by action"
  )
  t.strictSame(
    audited.map(({ action }) => action),
    ['member.add', 'member.remove', 'member.update', 'user.block', 'user.create', 'user.unblock', 'user.update']
  )
})

t.test('a run that is ended early blocks nobody, and the next one continues', async t => {
  const directory = await testDirectory(t)
  const people = Array.from({ length: 12 }, (_, at) => `early-${String(at).padStart(2, '0')}`)
  await directory.addPeople(people)
  configureDirectory(t, directory, { create: 'sync', page_size: 4 }, 'early')
  t.match(await sync(), { state: 'done', report: { created: 12 } })
  await directory.remove(`uid=early-03,ou=people,${directory.suffix}`)
  const stop = new AbortController()
  await directory.addPeople(['early-20'])
  const options = { signal: stop.signal, onNote: () => stop.abort(new Error('ended by the test')) }
  const ended = await runTask('ldap_sync', options, someOrigin)
  t.match(ended, { state: 'failed', error: /ended by the test/ })
  t.equal(await stateOf('early-03'), 'active')
  t.match(await sync(), { state: 'done', report: { blocked: 1 } })
  t.equal(await stateOf('early-03'), 'ldap_blocked')
  t.equal(await stateOf('early-20'), 'active')
})
