// Kills a worker, in a separate process, in the middle of its mails.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { queueMail } from '../../src/areas/reach/mail/outbox.js'
import { rows } from '../../src/db/connect/sql.js'
import { testDatabase } from '../helpers/database.js'
import { smtpServer } from '../helpers/smtp.js'
import { until } from '../helpers/until.js'

const MAILS = 50
const KILLS = [10, 25]

await testDatabase()
const module = new URL('../../src/worker/process.js', import.meta.url)

t.test('a killed worker loses no mail, and sends at most one twice', async t => {
  const server = await smtpServer(t)
  Object.assign(process.env, {
    GITSTEAD_MAIL_TRANSPORT: 'smtp',
    GITSTEAD_MAIL_SMTP_HOST: '127.0.0.1',
    GITSTEAD_MAIL_SMTP_PORT: String(server.port),
    GITSTEAD_MAIL_SMTP_TLS: 'none',
    GITSTEAD_MAIL_SMTP_SEND_TIMEOUT: '1',
    GITSTEAD_QUEUE_CONCURRENCY_BUILDS: '0',
    GITSTEAD_QUEUE_LEASE: '3',
    GITSTEAD_QUEUE_POLL_INTERVAL: '0.1'
  })
  const recipients = Array.from({ length: MAILS }, (_, at) => ({
    userId: null,
    address: `reader-${at}@example.org`,
    reason: 'test'
  }))
  await queueMail({ once: 'many', kind: 'test', facts: { sent_at: 'noon' }, recipients })
  for (const taken of [...KILLS, MAILS]) {
    const child = await worker()
    const all = taken === MAILS ? async () => (await open()) === 0 : () => server.mails.length >= taken
    await until(`${taken} mails are sent`, all)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const got = new Map<string, number>()
  for (const { to } of server.mails) got.set(to, (got.get(to) ?? 0) + 1)
  t.equal(got.size, MAILS, 'everybody has the mail')
  t.ok(server.mails.length <= MAILS + KILLS.length, `${server.mails.length} mails were sent`)
  const ids = new Set(server.mails.map(({ messageId }) => messageId))
  t.equal(ids.size, MAILS, 'a mail that comes twice has the same id')
})

async function worker(): Promise<ChildProcess> {
  const child = fork(module, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

const open = async () => (await rows("select id from mail_deliveries where state in ('waiting', 'sending')")).length
