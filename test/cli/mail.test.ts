// Tests the commands for mail, as scripts use them.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { queueMail } from '../../src/areas/reach/mail/outbox.js'
import { mailCheck } from '../../src/cli/doctor/mail.js'
import { rows } from '../../src/db/connect/sql.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { runJobs } from '../helpers/jobs.js'
import { sendTo, smtpServer } from '../helpers/smtp.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const smtp = (port: number, more: NodeJS.ProcessEnv = {}) => ({
  ...environment,
  GITSTEAD_MAIL_TRANSPORT: 'smtp',
  GITSTEAD_MAIL_SMTP_HOST: '127.0.0.1',
  GITSTEAD_MAIL_SMTP_PORT: String(port),
  GITSTEAD_MAIL_SMTP_TIMEOUT: '2',
  ...more
})

t.test('mail test shows the conversation and whether the mail was sent', async t => {
  const server = await smtpServer(t, {
    disabledCommands: ['STARTTLS'],
    authMethods: ['PLAIN'],
    allowInsecureAuth: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username })
  })
  const login = {
    GITSTEAD_MAIL_SMTP_TLS: 'none',
    GITSTEAD_MAIL_SMTP_USER: 'git',
    GITSTEAD_MAIL_SMTP_PASSWORD: '12345678'
  }
  const sent = await cli(['mail', 'test', 'ada@example.org'], { environment: smtp(server.port, login) })
  t.equal(sent.code, 0, sent.stderr)
  t.match(
    sent.stdout,
    /^S: 220 .*^C: EHLO .*^S: 235 .*^C: RCPT TO:<ada@example\.org>.*the server accepted the mail\n$/ms
  )
  t.notMatch(sent.stdout, /12345678/)
  t.notOk(sent.stdout.includes(Buffer.from(['', 'git', '12345678'].join('\0')).toString('base64')))
  t.equal(server.mails[0]?.to, 'ada@example.org')
  const shown = await cli(['config', 'show'], { environment: smtp(server.port, login) })
  t.match(shown.stdout, /^mail\.smtp\.password +redacted +environment$/m)

  server.refuse.recipient = () => '550 5.1.1 No such user'
  const refused = await cli(['mail', 'test', 'eve@example.org', '--json'], { environment: smtp(server.port, login) })
  t.equal(refused.code, 1)
  t.match(refused.json(), { transport: 'smtp', sent: false, error: /No such user/ })
  await server.stop()
  const down = await cli(['mail', 'test', 'eve@example.org'], { environment: smtp(server.port) })
  t.equal(down.code, 5)
  t.match(down.stdout, /ECONNREFUSED/)
  t.equal((await cli(['mail', 'test', 'a b'], { environment })).code, 2)
  const nowhere = join(t.testdir(), 'typed-wrongly')
  t.equal((await cli(['mail', 'test', 'a@b.c', '--home', nowhere])).code, 3)
  t.notOk(existsSync(nowhere), 'nothing was made')
  const made = t.testdir({ 'secrets.json': '{}' })
  t.match(
    (await cli(['mail', 'test', 'a@b.c', '--home', made])).stdout,
    /mail\/test\..*\.eml\nthe mail was only written to a file/
  )
})

t.test('doctor names a wrong address for replies', async t => {
  const wrong = { ...environment, GITSTEAD_MAIL_INCOMING: 'reply@git.example.org' }
  const checked = await cli(['config', 'check'], { environment: wrong })
  t.not(checked.code, 0)
  t.match(checked.stdout + checked.stderr, /mail\.incoming.*an address with a \+ before the @/s)
  const doctor = await cli(['doctor', '--json'], {
    environment: { ...environment, GITSTEAD_MAIL_INCOMING: 'reply+@git.example.org' }
  })
  t.match(doctor.stdout, /mail\.incoming has no effect/)
})

t.test('unsent mails are shown, and sent after a retry', async t => {
  const server = await smtpServer(t)
  sendTo(server.port)
  server.refuse.recipient = () => '550 5.1.1 No such user'
  const to = { userId: null, address: 'Gone@example.org', reason: 'test' }
  await queueMail({ once: 'gone', kind: 'test', facts: { sent_at: '' }, recipients: [to] })
  await runJobs()
  const run = async (...args: string[]) => (await cli(['mail', ...args, '--json'], { environment })).json()
  const queue = await run('queue')
  t.match(queue, {
    counts: { failed: 1, waiting: 0 },
    mails: [{ address: to.address, kind: 'test', state: 'failed', attempts: 1, error: /No such user/ }],
    total: 1,
    bounced: [{ address: 'gone@example.org', error: /No such user/ }]
  })
  t.match((await cli(['mail', 'queue'], { environment })).stdout, /failed 1.*Gone@example\.org.*gone@example\.org/s)
  const [{ id } = { id: 0 }] = queue.mails as { id: number }[]
  t.match(await run('unblock', 'GONE@example.org'), { unblocked: { address: 'gone@example.org' } })
  t.equal((await cli(['mail', 'unblock', to.address], { environment })).code, 3)
  t.match(await run('retry', String(id)), { retried: 1, failed: [] })
  server.refuse.recipient = () => null
  await runJobs()
  t.equal(server.mails[0]?.to, to.address)
  t.match(await run('queue', '--state', 'sent'), { mails: [{ id, state: 'sent', error: null }], bounced: [] })
  t.match(await run('retry', '--failed'), { retried: 0 })
  t.equal((await cli(['mail', 'retry', String(id)], { environment })).code, 3)
  t.same(await rows("select action from audit_events where action like 'mail.%' order by id"), [
    { action: 'mail.unblock' },
    { action: 'mail.retry' }
  ])
})

t.test('doctor talks to the server, but sends no mail', async t => {
  const examine = async () => mailCheck.examine({ all: false, serverUp: true, now: new Date(), serverUrl: '' })
  const server = await smtpServer(t, {
    disabledCommands: [],
    onAuth: ({ username, password }, _session, done) =>
      password === 'right' ? done(null, { user: username }) : done(new Error('Invalid login'))
  })
  const login = { tls: 'starttls', user: 'git', password: 'right', verify_tls: false }
  sendTo(server.port, login)
  t.equal(await examine(), `127.0.0.1:${server.port} answers with TLS and accepts the user git`)
  sendTo(server.port, { ...login, password: 'wrong' })
  await t.rejects(examine, { message: /cannot send mail .*535/, remedy: /mail test/, details: [/^[CS]: /] })
  sendTo(1)
  await t.rejects(examine, { message: /ECONNREFUSED/ })
  sendTo(1, {}, { transport: 'sendmail', sendmail: { path: '/nowhere/sendmail' } })
  await t.rejects(examine, { message: '/nowhere/sendmail cannot be run' })
  t.same(server.mails, [])
})
