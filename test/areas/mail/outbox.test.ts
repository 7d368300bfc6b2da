// Mails that are queued, sent as files into HOME/mail, and read by another library.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import t from 'tap'
import { readLink, signedLink } from '../../../src/areas/mail/links.js'
import { type NewMail, queueMail } from '../../../src/areas/mail/outbox.js'
import { config } from '../../../src/config.js'
import { rows } from '../../../src/db/sql.js'
import { testApp } from '../../helpers/app.js'

const app = await testApp(t)
const user = await app.make.user()
await app.runJobs()

/** Reads the mails to an address, in the order in which they were sent. */
async function mailsTo(address: string): Promise<ParsedMail[]> {
  const folder = join(config().home, 'mail')
  const files = readdirSync(folder).sort()
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

t.test('links hold for their purpose, unchanged, until their end', async t => {
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
