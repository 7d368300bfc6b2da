// Replies by mail: each test answers a mail that the appliance has sent, with the command that a mail server runs.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { simpleParser } from 'mailparser'
import { readReplyAddress, replyAddress } from '../../../../src/areas/reach/mail/reply-address.js'
import { receiveMail } from '../../../../src/areas/reach/replies/receive.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST } from '../../../../src/lib/levels.js'
import { host } from '../../../../src/mail/message.js'
import { testApp } from '../../../helpers/app.js'
import { cli } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import type { TestProject, TestUser } from '../../../helpers/factory.js'
import { someOrigin } from '../../../helpers/factory.js'
import { statementsInside } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const app = await testApp(t)
const incoming = 'reply+@git.example.org'
loadConfig({ port: 0, mail: { incoming } })
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_MAIL_INCOMING: incoming }

const files = () => {
  try {
    return readdirSync(join(home, 'mail'))
  } catch {
    return []
  }
}

/** Runs all jobs. Returns the new mails to a user. */
const seen = new Set<string>()
async function mailsTo({ email }: TestUser) {
  await app.runJobs()
  const fresh = files().filter(file => !seen.has(file))
  for (const file of fresh) seen.add(file)
  const all = await Promise.all(fresh.map(file => simpleParser(readFileSync(join(home, 'mail', file)))))
  return all.filter(({ to }) => JSON.stringify(to).includes(`"${email}"`))
}

interface Reply {
  readonly from?: string
  readonly to: string
  readonly text: string
  readonly id?: string
  readonly headers?: readonly string[]
  readonly type?: string
}

let count = 0
const mailOf = ({
  from = 'x@y.z',
  to,
  text,
  id = `<${++count}@home.example>`,
  headers = [],
  type = 'text/plain; charset=utf-8'
}: Reply) =>
  [
    `From: ${from}`,
    `To: ${to}`,
    `Message-ID: ${id}`,
    'Subject: Re: something',
    'MIME-Version: 1.0',
    `Content-Type: ${type}`,
    ...headers,
    '',
    text,
    ''
  ].join('\r\n')

const receive = (reply: Reply, args: readonly string[] = []) =>
  cli(['mail', 'receive', '--json', ...args], { input: mailOf(reply), environment })

/** An issue whose watcher, a guest, got a mail about it with an address for replies. */
async function subject(level = GUEST, values: object = {}) {
  const project = await app.make.project(values)
  const user = await app.make.member(project, level)
  await app.as(user).put(`/projects/${project.id}/notification_settings`, { level: 'watch' })
  const issue = (await app.as(project.owner).post(`/projects/${project.id}/issues`, { title: 'Slow' })).json()
  const [mail] = await mailsTo(user)
  const to = mail?.replyTo?.value[0]?.address ?? ''
  return { project, user, issue, mail, to, path: `/projects/${project.id}/issues/${issue.id}` }
}

async function notesAt(
  path: string,
  project: TestProject
): Promise<readonly { body: string; author: { id: number } }[]> {
  const answer = await app.as(project.owner).get(`${path}/notes`)
  return answer.json().filter(({ system }: { system: boolean }) => !system)
}

t.test('a reply to a mail becomes a comment of its user, once', async t => {
  const { project, user, mail, to, path } = await subject()
  t.match(mail?.replyTo?.value[0], { name: /.+\/.+/, address: /^reply\+1i_\w+@git\.example\.org$/ })
  t.match(mail?.text, 'Reply to this mail to comment.')
  const text = 'Grüße, *yes*.\r\n\r\nOn 3 Aug 2026, Ada wrote:\r\n> Slow\r\n-- \r\nBob'
  const reply = {
    from: `Bob <${user.email.toUpperCase()}>`,
    to: `"Ada" <${to.toUpperCase()}>`,
    text,
    id: '<one@home.example>'
  }
  const first = await receive(reply)
  t.equal(first.code, 0, first.stderr)
  t.same(first.json(), { result: 'noted', why: null })
  t.match(await notesAt(path, project), [{ body: 'Grüße, *yes*.', author: { id: user.id } }])
  const again = await receive(reply)
  t.same([again.code, again.json().result], [0, 'ignored'])
  t.equal((await notesAt(path, project)).length, 1, 'the second delivery is no second comment')
  await receive({ from: user.email, to, text: ':tada:' })
  t.match((await app.as(user).get(`${path}/award_emoji`)).json(), [{ name: 'tada' }], 'an emoji is an award')
  t.equal((await mailsTo(project.owner)).length, 1, 'the author of the issue gets a mail about the comment')
})

t.test('a process that is killed leaves the comment and the mark of its mail, or neither', async t => {
  const { user, to, path, project } = await subject(DEVELOPER)
  await app.make.file(project, 'file', 'text\n')
  const sha = (await app.as(project.owner).get(`/projects/${project.id}/repository/commits`)).json()[0].id
  const comments = `/projects/${project.id}/repository/commits/${sha}/comments`
  await app.as(project.owner).post(comments, { note: 'first' })
  const [comment] = await rows<{ id: number }>("select id from notes where noteable_type = 'Commit' order by id desc")
  const toCommit = replyAddress(user.id, { type: 'Commit', id: comment?.id ?? 0 })
  for (const address of [to, toCommit ?? '']) {
    const mail = { from: user.email, to: address, text: 'mine, @nobody' }
    const sent = await statementsInside(async () => {
      const receipt = await receiveMail(Readable.from([Buffer.from(mailOf(mail))]), {})
      t.same(receipt, { result: 'noted', why: null })
    })
    const written = sent.filter(sql => /insert into notes|update received_mails set done/.test(sql))
    t.match(written, [/insert into notes/, /update received_mails/], address)
  }
  t.match(await notesAt(path, project), [{ body: 'mine, @nobody' }])
})

t.test('commands work with the rights of the user', async t => {
  const { project, user, to, path } = await subject(DEVELOPER)
  t.equal((await receive({ from: user.email, to, text: '/close' })).json().result, 'noted')
  t.equal((await app.as(user).get(path)).json().state, 'closed')
  t.same(await notesAt(path, project), [], 'no text is left')
  const guest = await subject(GUEST)
  await receive({ from: guest.user.email, to: guest.to, text: '/close\nplease' })
  t.equal((await app.as(guest.user).get(guest.path)).json().state, 'opened')
  t.match(await notesAt(guest.path, guest.project), [{ body: '/close\nplease' }])
})

t.test('HTML without a text, and attachments', async t => {
  const { project, user, to, path } = await subject()
  const html = '<p>Hello <b>all</b></p><script>x()</script><blockquote>old</blockquote>'
  t.equal((await receive({ from: user.email, to, text: html, type: 'text/html' })).json().result, 'noted')
  t.match(await notesAt(path, project), [{ body: 'Hello all' }])
  const part = (name: string, type: string, content: string) =>
    [
      '--b',
      `Content-Type: ${type}`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
      '',
      content
    ].join('\r\n')
  const text = [
    '--b',
    'Content-Type: text/plain',
    '',
    'See this.',
    part('../../shot 1.png', 'image/png', 'iVBORw0KGgo='),
    part('a.sig', 'application/pgp-signature', 'AAAA'),
    part('big.bin', 'application/octet-stream', Buffer.alloc(1_100_000).toString('base64')),
    '--b--'
  ].join('\r\n')
  await app.as(await app.make.admin()).put('/application/settings', { max_attachment_size: 1 })
  const answer = await receive({ from: user.email, to, text, type: 'multipart/mixed; boundary=b' })
  t.equal(answer.json().result, 'noted', answer.stdout)
  const body = (await notesAt(path, project))[1]?.body ?? ''
  const namespace = (await app.as(user).get(`/projects/${project.id}`)).json().path_with_namespace
  const [, url] =
    /^See this\.\n\n!\[shot\\_1\]\((\/uploads\/[0-9a-f]{32}\/shot_1\.png)\)\n\nNot attached: `big\.bin` \(a file has at most 1 MB/.exec(
      body
    ) ?? []
  t.ok(url, body)
  t.notMatch(body, /a\.sig/)
  const file = await app
    .as(user)
    .inject({ url: `/${namespace}${url}`, headers: { 'private-token': user.privateToken } })
  t.same([file.statusCode, file.rawPayload.toString('base64')], [200, 'iVBORw0KGgo='])
})

t.test('merge requests, snippets and commits', async t => {
  const { project, user, to: toIssue } = await subject(DEVELOPER, { visibility_level: 20, snippets_enabled: true })
  const owner = app.as(project.owner)
  const at = `/projects/${project.id}`
  await app.make.file(project, 'a.txt', 'a\n')
  await app.make.branch(project, 'topic')
  await app.make.file(project, 'b.txt', 'b\n', 'topic')
  const body = { source_branch: 'topic', target_branch: 'master', title: 'Topic' }
  const mergeRequest = (await owner.post(`${at}/merge_requests`, body)).json()
  const snippet = (
    await owner.post(`${at}/snippets`, { title: 's', file_name: 'f', code: 'c', visibility_level: 20 })
  ).json()
  t.ok(snippet.id, JSON.stringify(snippet))
  await owner.post(`${at}/snippets/${snippet.id}/notes`, { body: 'n' })
  const sha = (await owner.get(`${at}/repository/branches/topic`)).json().commit.id
  await owner.post(`${at}/repository/commits/${sha}/comments`, { note: 'n', path: 'b.txt', line: 1, line_type: 'new' })
  const all = (await mailsTo(user)).map(({ replyTo }) => replyTo?.value[0]?.address ?? '')
  const places = {
    m: `${at}/merge_requests/${mergeRequest.id}/notes`,
    s: `${at}/snippets/${snippet.id}/notes`,
    c: `${at}/repository/commits/${sha}/comments`
  }
  t.equal(new Set([...all, toIssue]).size, all.length + 1, 'each record has its own address')
  for (const [letter, path] of Object.entries(places)) {
    const to = all.find(address => address.startsWith(`reply+1${letter}_`)) ?? ''
    t.equal((await receive({ from: user.email, to, text: `from ${letter}` })).json().result, 'noted', letter)
    t.match(JSON.stringify((await owner.get(path)).json()), `from ${letter}`)
  }
  t.match((await owner.get(places.c)).json()[1], { note: 'from c', path: 'b.txt', line: 1, author: { id: user.id } })
})

t.test('an address is valid only as it was signed', async t => {
  const { project, user, issue, to, path } = await subject()
  const other = replyAddress(project.owner.id, { type: 'Issue', id: issue.id }) ?? ''
  const [, ofUser = '', ofOther = ''] = [/_(\w+?)_\w+_/.exec(to)?.[0] ?? '', to, other].map(text =>
    text.replace(/^.*\+|@.*$/g, '')
  )
  const signed = (token: string) => token.split('_')[3] ?? ''
  t.not(signed(ofUser), signed(ofOther))
  const forged = [
    to.replace(signed(ofUser), signed(ofOther)),
    other.replace(signed(ofOther), signed(ofUser)),
    to.replace('+1i_', '+1m_'),
    to.replace(/.@/, end => (end === '0@' ? '1@' : '0@')),
    to.replace(/_\w{24}@/, '@'),
    'reply+@git.example.org',
    'somebody@git.example.org'
  ]
  for (const address of forged) {
    t.equal(readReplyAddress(address), null, address)
    const answer = await receive({ from: project.owner.email, to: address, text: 'forged' })
    t.same([answer.code, answer.json().result], [67, 'unknown_address'], address)
  }
  t.same(await notesAt(path, project), [])
  const envelope = await receive({ from: user.email, to: 'list@example.org', text: 'by the envelope' }, [
    '--recipient',
    to
  ])
  t.equal(envelope.json().result, 'noted')
  t.equal(
    (await receive({ from: user.email, to, text: 'x' }, ['--recipient', 'a@b.c'])).code,
    67,
    'the envelope counts'
  )
})

t.test('automatic mails and mails that come back are ignored', async t => {
  const { user, project, to, path, mail } = await subject()
  const headers = [
    'Auto-Submitted: auto-replied',
    'Precedence: bulk',
    'X-Auto-Response-Suppress: All',
    'Return-Path: <>',
    'X-Autoreply: yes',
    'X-Gitstead-Reason: watcher',
    `List-Id: a list <1.project.${host()}>`
  ]
  for (const header of headers) {
    const answer = await receive({ from: user.email, to, text: 'I am away', headers: [header] })
    t.same([answer.code, answer.json().result], [0, 'ignored'], header)
  }
  const report = { type: 'multipart/report; boundary=b', text: '--b\r\n\r\nx\r\n--b--' }
  t.equal((await receive({ from: user.email, to, ...report })).json().result, 'ignored')
  t.equal((await receive({ from: user.email, to, text: 'x' }, ['--sender='])).json().result, 'ignored', 'no sender')
  t.equal((await receive({ from: user.email, to, text: 'x', id: mail?.messageId ?? '' })).json().result, 'ignored')
  const person = ['Auto-Submitted: no', 'X-Auto-Response-Suppress: DR, RN', 'Return-Path: <ada@example.org>']
  t.equal((await receive({ from: user.email, to, text: 'a person', headers: person })).json().result, 'noted')
  t.equal((await notesAt(path, project)).length, 1)
})

t.test('a reply that cannot be posted causes one short mail to its user', async t => {
  const { project, user, to, path } = await subject(GUEST, { visibility_level: 0 })
  await mailsTo(user)
  const refused = async (reply: Partial<Reply>) => {
    const answer = await receive({ from: user.email, to, text: 'secret words', ...reply })
    t.same([answer.code, answer.json().result], [0, 'refused'])
    return String(answer.json().why)
  }
  t.match(
    await refused({ from: `"${user.email}" <mallory@evil.example> (\u00e4)` }),
    'it came from mallory@evil.example, which is not a confirmed address'
  )
  const unclear = [
    `${user.email}, a@b.c`,
    `a@b.c\r\nFrom: ${user.email}`,
    `<${user.email}> <a@b.c>`,
    `"${user.email}"`,
    `group: ${user.email};`,
    `<@b.c:${user.email}>`,
    `"a\\" <${user.email}>, <a@b.c>`,
    `a@b.c <${user.email}>`
  ]
  for (const from of unclear) t.equal(await refused({ from }), 'its From is not exactly one address', from)
  t.match(await refused({ text: 'On 3 Aug 2026, Ada wrote:\n> x' }), 'no text apart from quotations')
  t.match(await refused({ text: 'x'.repeat(300_000) }), 'the note is too long')
  await app.as(project.owner).delete(`/projects/${project.id}/members/${user.id}`)
  t.match(await refused({}), 'no longer exists, or you may not read it')
  t.same(await notesAt(path, project), [])
  const mails = (await mailsTo(user)).filter(({ subject }) => subject?.startsWith('Your reply'))
  t.equal(mails.length, 1, 'further refusals of the hour cause no mail')
  t.match(mails[0], {
    subject: 'Your reply was not posted: Re: something',
    text: /mallory@evil\.example.*\/profile\/emails\n.*secret words/s
  })
  t.equal(mails[0]?.headers.get('auto-submitted'), 'auto-generated')
  t.notOk(mails[0]?.replyTo?.text.includes('+'), 'nobody can reply to it')
  await execute("update users set state = 'blocked' where id = ?", [user.id])
  const blocked = await receive({ from: user.email, to, text: 'x' })
  t.same([blocked.code, blocked.json().result], [77, 'blocked_user'])
})

t.test('an additional address counts once it is confirmed', async t => {
  const { user, to } = await subject()
  const more = `more-${user.email}`
  await app.as(user).post('/user/emails', { email: more })
  t.equal((await receive({ from: more, to, text: 'x' })).json().result, 'refused')
  await execute('update emails set confirmed_at = now() where email = ?', [more])
  t.equal((await receive({ from: more, to, text: 'x' })).json().result, 'noted')
})

t.test('what may pass is tried again, and what is not a mail is refused', async t => {
  const { user, to, path, project } = await subject()
  const reply = { from: user.email, to, text: 'later', id: '<later@home.example>' }
  const input = mailOf(reply)
  const run = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    cli(args, { input, environment: { ...environment, ...more } })
  const down = { GITSTEAD_DATABASE_URL: 'mysql://nobody@127.0.0.1:1/x' }
  t.equal((await run(['mail', 'receive'], down)).code, 75, 'the database is down')
  t.equal((await run(['mail', 'receive', '--nonsense'])).code, 75, 'a wrong line in master.cf')
  t.match(
    await cli(['mail', 'receive'], { input, environment: { ...environment, GITSTEAD_MAIL_INCOMING: undefined } }),
    {
      code: 75,
      stderr: /mail\.incoming is not set/
    }
  )
  const admin = app.as(await app.make.admin())
  await admin.put('/application/settings', {})
  await execute("update application_settings set maintenance_message = 'soon', maintenance_since = now()")
  t.equal((await run(['mail', 'receive'])).code, 75, 'maintenance')
  await execute('update application_settings set maintenance_message = null, maintenance_since = null')
  t.same(await notesAt(path, project), [])
  const name = (await rows<{ n: number }>('select count(*) as n from received_mails where not done'))[0]?.n
  t.equal(Number(name), 0, 'nothing is marked as begun')
  t.equal((await run(['mail', 'receive'])).code, 0)
  t.match(await notesAt(path, project), [{ body: 'later' }])
  for (const text of ['', 'no headers', '\u0000\u0001\u0002']) {
    t.equal((await cli(['mail', 'receive'], { input: text, environment })).code, 65, JSON.stringify(text))
  }
  const parts = `--b\r\n\r\nx\r\n`.repeat(300)
  t.equal(
    (await receive({ to, text: `${parts}--b--`, type: 'multipart/mixed; boundary=b' })).code,
    65,
    'too many parts'
  )
  await execute('update received_mails set begun_at = now() - interval 31 day')
  t.ok(Number((await runTask('old_received_mails', {}, someOrigin)).count) > 0)
  t.same(await rows('select 1 from received_mails'), [])
})

t.test('without mail.incoming, nothing changes', async t => {
  loadConfig({ port: 0, mail: { reply_to: 'Team <team@example.org>' } })
  const { mail } = await subject()
  t.equal(mail?.replyTo?.value[0]?.address, 'team@example.org')
  t.notMatch(mail?.text, 'Reply to this mail')
  for (const wrong of ['reply@example.org', 'a-name-of-more-than-20-letters+@example.org', 'x+@', 'é+@example.org'])
    t.throws(() => loadConfig({ port: 0, mail: { incoming: wrong } }), { message: /mail\.incoming/ }, wrong)
  loadConfig({ port: 0, mail: { incoming } })
})
