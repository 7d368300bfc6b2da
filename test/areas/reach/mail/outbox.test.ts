// Mails that are queued, written as files to HOME/mail, and parsed by another library.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ParsedMail, simpleParser } from 'mailparser'
import { createIssue } from '../../../../src/areas/planning/issues/creation.js'
import { retryFailedMails, retryMail } from '../../../../src/areas/reach/mail/administer.js'
import { readLink, signedLink } from '../../../../src/areas/reach/mail/links.js'
import { type NewMail, queueMail } from '../../../../src/areas/reach/mail/outbox.js'
import { discardJobs } from '../../../../src/areas/upkeep/jobs/jobs.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { NotFound } from '../../../../src/errors.js'
import { INTERNAL } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, projectRow, someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const user = await app.make.user()
await app.runJobs()

/** Reads the mails to an address, in the order in which they were sent. */
async function mailsTo(address: string): Promise<ParsedMail[]> {
  const folder = join(config().home, 'mail')
  const files = readdirSync(folder).sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  const mails = await Promise.all(files.map(file => simpleParser(readFileSync(join(folder, file)))))
  return mails.filter(mail => JSON.stringify(mail.to).includes(address))
}

const states = async (once: string) =>
  (
    await rows<{ state: string }>(
      'select d.state from mail_deliveries d join mails m on m.id = d.mail_id where m.once = ? order by d.id',
      [once]
    )
  ).map(({ state }) => state)

const recipient = (to: { id: number; email: string }) => [{ userId: to.id, address: to.email, reason: 'test' }]

let count = 0
const mail = (address = user.email, more: Partial<NewMail<'test'>> = {}): NewMail<'test'> => ({
  once: `mail ${++count}`,
  kind: 'test',
  facts: { sent_at: 'noon' },
  recipients: [{ userId: user.id, address, reason: 'test' }],
  ...more
})

t.test('a mail is sent once to each recipient, however often it is queued', async t => {
  const first = mail()
  await queueMail(first)
  await queueMail(first)
  const other = { userId: null, address: 'list@example.org', reason: 'test' }
  await queueMail({ ...first, recipients: [...first.recipients, other] })
  t.same(await app.runJobs(), ['mail.send', 'mail.send'])
  t.same(await states(first.once), ['sent', 'sent'])
  const [found, ...rest] = await mailsTo(user.email)
  t.same(rest, [])
  t.match(found?.text, /sent at noon .*\n\n-- \nYou get this mail because somebody asked for a test\.\n/s)
  t.match(found?.html, /sent at noon/)
  t.same(found?.headers.get('auto-submitted'), 'auto-generated')
  t.equal((await mailsTo(other.address)).length, 1)
})

t.test('links are valid for their purpose, unmodified, until they expire', async t => {
  const values = { userId: 1, projectId: 2 }
  const tokenOf = (end: Date | null) => new URL(signedLink('unsubscribe', values, end)).searchParams.get('token') ?? ''
  const token = tokenOf(null)
  t.same(readLink('unsubscribe', token), values)
  t.same(readLink('unsubscribe', tokenOf(new Date(Date.now() + 60_000))), values)
  t.equal(readLink('unsubscribe', tokenOf(new Date(Date.now() - 2000))), null)
  const [body = '', signed = ''] = token.split('.')
  const forged = Buffer.from(JSON.stringify([{ userId: 3, projectId: 2 }, 0])).toString('base64url')
  for (const wrong of [
    '',
    'x',
    body,
    `${forged}.${signed}`,
    `${body}.${signed.slice(1)}A`,
    `${token}.`,
    'a'.repeat(9000)
  ])
    t.equal(readLink('unsubscribe', wrong), null, wrong.slice(0, 40))
})

const hour = 3_600_000

/** An hour of the clock that ends during a test would reset the count. */
async function withinAnHour(): Promise<void> {
  const left = hour - (Date.now() % hour)
  if (left < 60_000) await sleep(left)
}

t.test('mails beyond the hourly limit arrive as one mail at the end of the hour', async t => {
  loadConfig({ port: 0, mail: { per_hour: 2 } })
  t.teardown(() => loadConfig({ port: 0 }))
  await withinAnHour()
  const busy = await app.make.user({ name: 'Busy Bee' })
  const queued = Array.from({ length: 4 }, (_, at) =>
    mail(busy.email, { facts: { sent_at: `<time ${at}>` }, recipients: recipient(busy) })
  )
  const leaver = await app.make.user()
  const unwanted = Array.from({ length: 3 }, () => mail(leaver.email, { recipients: recipient(leaver) }))
  for (const each of [...queued, ...unwanted]) await queueMail(each)
  const security = mail(busy.email, { always: true, recipients: recipient(busy) })
  await queueMail(security)
  await app.runJobs()
  t.same(await Promise.all(queued.map(({ once }) => states(once))), [['sent'], ['sent'], ['held'], ['held']])
  t.same(await states(security.once), ['sent'], 'security mail has no limit')
  t.equal((await mailsTo(busy.email)).length, 3)
  const [digest] = await rows<{ run_at: Date }>(
    "select run_at from jobs where name = 'mail.send' and state = 'delayed'"
  )
  t.equal(Math.floor((digest?.run_at.getTime() ?? 0) / hour), Math.floor(Date.now() / hour) + 1)

  await execute("update users set state = 'blocked' where id = ?", [leaver.id])
  await app.runJobs({ until: new Date(Date.now() + 2 * hour) })
  t.same(await Promise.all(unwanted.map(({ once }) => states(once))), [['sent'], ['sent'], ['canceled']])
  const last = (await mailsTo(busy.email)).at(-1)
  t.match(last, {
    subject: '2 mails of the last hour',
    text: /<time 2>.*<time 3>.*Replies to this mail do not become comments/s
  })
  t.match(last?.html, /&lt;time 2&gt;/)
  t.same(await Promise.all(queued.map(({ once }) => states(once))), [['sent'], ['sent'], ['digested'], ['digested']])
})

t.test('mentions and assignments are sent beyond the hourly limit, unless one person causes too many', async t => {
  loadConfig({ port: 0, mail: { per_hour: 2 } })
  t.teardown(() => loadConfig({ port: 0 }))
  await withinAnHour()
  const asked = await app.make.user()
  const to = (reason: string) => ({ recipients: [{ userId: asked.id, address: asked.email, reason }] })
  const facts = {
    project: 'group/project',
    url: 'http://localhost/group/project/issues/1',
    is_new: true,
    reference: '#1',
    title: 'One',
    happened: 'Ada created the issue',
    lines: [],
    text: null
  }
  const [one, other] = [await app.make.user(), await app.make.user()]
  const assignment = (by: number, assigns: boolean): NewMail => {
    return { ...mail('', to('assignee')), kind: 'issue', facts: { ...facts, assigns }, authorId: by }
  }
  const mention = (by: number | null) => mail('', { ...to('mentioned'), authorId: by })
  const mails: readonly (readonly [NewMail, string])[] = [
    [mail('', to('test')), 'sent'],
    [mail('', to('test')), 'sent'],
    [mail('', to('test')), 'held'],
    [mention(one.id), 'sent'],
    [assignment(one.id, false), 'held'],
    [assignment(one.id, true), 'sent'],
    [mention(one.id), 'held'],
    [assignment(one.id, true), 'held'],
    [assignment(other.id, true), 'sent'],
    [mention(other.id), 'sent'],
    [mention(null), 'sent'],
    [mention(other.id), 'held']
  ]
  for (const [each] of mails) await queueMail(each)
  await app.runJobs()
  const sent = await Promise.all(mails.map(([{ once }]) => states(once)))
  t.same(
    sent,
    mails.map(([, state]) => [state])
  )
})

t.test('a mail knows the person who mentions somebody', async t => {
  const project = await app.make.project()
  await execute('update projects set visibility_level = ? where id = ?', [INTERNAL, project.id])
  const [author, asked] = [await app.make.user(), await app.make.user()]
  await createIssue(await projectRow(project), { title: 'Look', description: `@${asked.username}` }, actorOf(author))
  await app.runJobs()
  const found = await rows(
    `select m.author_id, d.reason from mails m join mail_deliveries d on d.mail_id = m.id where d.user_id = ?`,
    [asked.id]
  )
  t.same(found, [{ author_id: author.id, reason: 'mentioned' }])
})

t.test('the name of an author cannot add headers or addresses', async t => {
  const author = 'Eve" <eve@example.org>, \r\nBcc: all@example.org\u202e'
  const facts = {
    project: 'group/project',
    url: 'http://localhost/group/project/issues/1#note_1',
    author,
    reference: '#1',
    title: 'One',
    happened: 'Eve wrote about the issue',
    place: null,
    text: 'See [this](docs/a.md) <b>now</b>'
  }
  const reader = await app.make.user()
  await queueMail({ ...mail('', { recipients: recipient(reader) }), kind: 'note', facts })
  await app.runJobs()
  const [sent] = await mailsTo(reader.email)
  t.match(sent?.from?.value, [{ address: /^gitstead@/, name: /^Eve" <eve@example\.org>, +Bcc: all@example\.org$/ }])
  t.equal(sent?.from?.value.length, 1)
  t.notOk(sent?.bcc)
  t.match(
    sent?.html,
    /<p>See <a href="http:\/\/[^"]+\/group\/project\/docs\/a\.md">this<\/a> &lt;b&gt;now&lt;\/b&gt;<\/p>/
  )
  t.match(sent?.text, 'See [this](docs/a.md) <b>now</b>')
})

t.test('users who were deleted, were blocked or changed their address get no mail', async t => {
  const [gone, blocked, moved, stays] = await Promise.all([1, 2, 3, 4].map(() => app.make.user()))
  const users = [gone, blocked, moved, stays].flatMap(user => user ?? [])
  const first = mail('', { recipients: users.flatMap(recipient) })
  const security = mail('', { always: true, recipients: users.flatMap(recipient) })
  await queueMail(first)
  await queueMail(security)
  await execute('delete from users where id = ?', [gone?.id ?? 0])
  await execute("update users set state = 'blocked' where id = ?", [blocked?.id ?? 0])
  await execute("update users set email = 'new@example.org' where id = ?", [moved?.id ?? 0])
  await app.runJobs()
  t.same(await states(first.once), ['canceled', 'canceled', 'canceled', 'sent'])
  t.same(
    await states(security.once),
    ['canceled', 'canceled', 'sent', 'sent'],
    'security mail still goes to an old address'
  )
})

t.test('mail to five thousand recipients is queued, and its text is stored once, within the size limit', async t => {
  const recipients = Array.from({ length: 5000 }, (_, at) => ({
    userId: null,
    address: `watcher-${at}@example.org`,
    reason: 'test'
  }))
  const large = mail('', { facts: { sent_at: 'ü'.repeat(200_000) }, recipients })
  await queueMail(large)
  const [stored] = await rows<{ n: number; size: number }>(
    `select count(*) as n, max(length(m.facts)) as size from mails m join mail_deliveries d on d.mail_id = m.id where m.once = ?`,
    [large.once]
  )
  t.equal(stored?.n, 5000)
  t.ok((stored?.size ?? 0) < 65_536)
  await execute("delete from jobs where queue = 'mail'")
  await execute("delete from mail_deliveries where state = 'waiting'")
})

t.test('one click in a mail unsubscribes from mails like it', async t => {
  const project = await app.make.project()
  const { id } = await createIssue(await projectRow(project), { title: 'One' }, actorOf(project.owner))
  const target = { type: 'Issue' as const, id, projectId: project.id }
  await queueMail(mail('', { recipients: recipient(user), list: { projectId: project.id, target } }))
  await app.runJobs()
  const sent = (await mailsTo(user.email)).at(-1)
  const { pathname: path, search } = new URL(/Unsubscribe: (\S+)/.exec(sent?.text ?? '')?.[1] ?? '')
  const said = async () =>
    (
      await rows<{ target_id: number; subscribed: number }>(
        "select target_id, subscribed from subscriptions where target_type = 'Issue' and user_id = ?",
        [user.id]
      )
    ).map(said => [said.target_id, said.subscribed === 1])
  const read = () => app.nobody.inject({ method: 'GET', url: path + search })
  t.match(await read(), {
    statusCode: 200,
    body: /no more mail about <strong>a project that you can no longer see<\/strong>/
  })
  await execute('update projects set visibility_level = ? where id = ?', [INTERNAL, project.id])
  t.match(await read(), { statusCode: 200, body: /no more mail about <strong>[^<]+#\d+<\/strong>/ })
  await execute('update issues set confidential = true where id = ?', [id])
  t.match(await read(), {
    statusCode: 200,
    body: /no more mail about <strong>an issue that you can no longer see<\/strong>/
  })
  await execute('update issues set confidential = false where id = ?', [id])
  await execute('update projects set issues_enabled = false where id = ?', [project.id])
  t.match(await read(), { body: /an issue that you can no longer see/ })
  await execute('update projects set issues_enabled = true where id = ?', [project.id])
  t.same(await said(), [], 'viewing the page changes nothing')
  // The request that mail programs send.
  const click = {
    method: 'POST' as const,
    url: path + search,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'List-Unsubscribe=One-Click'
  }
  for (const url of ['/-/unsubscribe', `${path}${search}x`, `${path}?token[]=1`])
    t.equal((await app.nobody.inject({ ...click, url })).statusCode, 404, url)
  t.same(await said(), [])
  for (const time of ['first', 'second']) {
    const done = await app.nobody.inject(click)
    t.equal(done.statusCode, 200, `the ${time} time`)
    t.match(done.body, /You get no more mail about/)
    t.same(await said(), [[id, false]])
  }
})

t.test('tasks remove old records and files, and cancel mails that no job will send', async t => {
  const [old, forsaken] = [mail(), mail()]
  await queueMail(old)
  await app.runJobs()
  await queueMail(forsaken)
  await execute("delete from jobs where queue = 'mail'")
  await execute('update mails set created_at = now() - interval 31 day where once = ?', [old.once])
  await execute("update mail_deliveries set created_at = now() - interval 4 day where state = 'waiting'")
  await execute(
    `insert into mail_bounces (address, error, bounced_at) values ('nobody@example.org', '', now() - interval 31 day),
     (?, '', now() - interval 31 day), ('young@example.org', '', now())`,
    [user.email]
  )
  const { report } = await runTask('old_mails', {}, someOrigin)
  t.match(report, { forsaken: 1, bounces: 1 })
  t.same(await rows("select address from mail_bounces where address = 'nobody@example.org'"), [])
  await execute('delete from mail_bounces')
  t.same(await states(old.once), [])
  t.same(await states(forsaken.once), ['canceled'])
  loadConfig({ port: 0, mail: { file: { max_files: 1 } } })
  t.teardown(() => loadConfig({ port: 0 }))
  const before = readdirSync(join(config().home, 'mail')).length
  t.match(await runTask('old_mail_files', {}, someOrigin), { count: before - 1 })
  t.equal(readdirSync(join(config().home, 'mail')).length, 1)
})

t.test('a discarded job ends its mail, and a failed mail can be sent again', async t => {
  const [discarded, failed] = [
    mail(),
    mail('', { recipients: [{ userId: null, address: 'no address', reason: 'test' }] })
  ]
  await queueMail(discarded)
  await queueMail(failed)
  const jobs = await rows<{ id: number }>("select id from jobs where name = 'mail.send'")
  await discardJobs(
    jobs.map(({ id }) => id),
    someOrigin
  )
  t.same(await states(discarded.once), ['canceled'])
  t.same(await states(failed.once), ['failed'])
  t.equal(await retryFailedMails(someOrigin), 1)
  await app.runJobs()
  t.same(await states(failed.once), ['failed'], 'the address is still wrong')
  const [canceled] = await rows<{ id: number }>(
    'select d.id from mail_deliveries d join mails m on m.id = d.mail_id where m.once = ?',
    [discarded.once]
  )
  await retryMail(canceled?.id ?? 0, someOrigin)
  await app.runJobs()
  t.same(await states(discarded.once), ['sent'])
  await t.rejects(retryMail(canceled?.id ?? 0, someOrigin), NotFound)
})
