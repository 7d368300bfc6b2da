// Turns a reply by mail into a comment. Only the address that it was sent to proves who writes: From can be forged, and therefore
// never gives a right.
import { actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import {
  AlreadyRunning,
  DiskFull,
  Failure,
  Forbidden,
  Invalid,
  Misconfigured,
  NotFound,
  TooManyRequests,
  Unauthorized,
  Unavailable
} from '../../../errors.js'
import { ownText } from '../../../mail/received/own-text.js'
import { type ReceivedMail, readBytes, readMail } from '../../../mail/received/read.js'
import { oneLine } from '../../../mail/render.js'
import { refuseDuringMaintenance } from '../../ground/settings/maintenance-mode.js'
import { findReachable } from '../accounts/recipients.queries.js'
import { hourOf } from '../mail/digest.js'
import { queueMail } from '../mail/outbox.js'
import { type ReplyTicket, readReplyAddress } from '../mail/reply-address.js'
import { comment } from './comment.js'
import { begin, finish, giveUp, nameOf } from './received.js'

/** What became of a mail. `why` is for people. */
export interface Receipt {
  /** `noted`: it is a comment. `ignored`: no person wrote it, or it came before. `refused`: the user gets a mail with the reason. */
  readonly result: 'noted' | 'ignored' | 'refused' | 'unknown_address' | 'blocked_user'
  readonly why: string | null
}

/** Characters of all text parts. A comment has fewer. */
const LONGEST = 1_000_000
/** Characters of the text that a mail about a refused reply shows. */
const LONGEST_SHOWN = 2000

/** Those of SMTP. Without them, the headers of the mail say who sent it to which address. */
export interface Envelope {
  readonly sender?: string
  readonly recipient?: string
}

/** Throws BadRequest or TooLarge for something that is not a mail, and Unavailable when another try may help. */
export async function receiveMail(stream: AsyncIterable<Buffer>, envelope: Envelope): Promise<Receipt> {
  return answer(await readMail(await readBytes(stream), envelope.sender), envelope.recipient)
}

async function answer(mail: ReceivedMail, recipient?: string): Promise<Receipt> {
  if (config().mail.incoming === null) throw new Misconfigured('mail.incoming is not set: docs/operate/mail.md')
  if (mail.automatic !== null) return { result: 'ignored', why: `an automatic mail (${mail.automatic})` }
  const [ticket] = (recipient === undefined ? mail.recipients : [recipient]).flatMap(
    each => readReplyAddress(each) ?? []
  )
  if (!ticket) return { result: 'unknown_address', why: 'there is no such address for replies' }
  await refuseDuringMaintenance()
  const user = await findUser(ticket.userId)
  if (!user) return { result: 'unknown_address', why: 'there is no such address for replies' }
  if (user.state !== 'active') return { result: 'blocked_user', why: 'the account is blocked' }
  const name = nameOf(mail.identity, ticket)
  const state = await begin(name)
  if (state === 'done') return { result: 'ignored', why: 'it was received before' }
  if (state === 'busy') throw new Unavailable('the mail is being received by another process', 60)
  const refused = await write(mail, ticket, { user, name }).catch(async error => {
    await giveUp(name)
    throw error
  })
  if (refused !== null) await refuse(mail, ticket.userId, refused)
  await finish(name)
  return refused === null ? { result: 'noted', why: null } : { result: 'refused', why: refused.why }
}

interface Replier extends ActorUserColumns {
  readonly state: string
}

const findUser = (id: number) => row<Replier>(`select ${ACTOR_USER}, u.state from users u where u.id = ?`, [id])

interface Refusal {
  readonly why: string
  readonly page: string | null
}

const refusal = (why: string): Refusal => ({ why, page: null })

/** Writes the comment, and marks the mail in the same transaction. Returns why that is not possible; null when it is done. */
async function write(
  mail: ReceivedMail,
  { subject }: ReplyTicket,
  { user, name }: { readonly user: Replier; readonly name: Buffer }
): Promise<Refusal | null> {
  // Not specified: a person who gets a forwarded mail could reply to its address, so From must be an address of the user.
  if (mail.from === null) return refusal('its From is not exactly one address')
  if (!(await isAddressOf(user.id, mail.from))) {
    return {
      why: `it came from ${oneLine(mail.from, 200)}, which is not a confirmed address of your account. Add the address, or reply from another one`,
      page: '/profile/emails'
    }
  }
  if (mail.text.length > LONGEST) return refusal('its text is too long')
  const text = ownText(mail.text)
  if (text === '' && mail.attachments.length === 0)
    return refusal('it has no text apart from quotations and signatures')
  try {
    const { attachments } = mail
    await comment(subject, { text, attachments }, actorOf(actorUserOf(user), 'mail'), () => finish(name))
    return null
  } catch (error) {
    if (isTemporary(error) || !(error instanceof Failure)) throw error
    return refusal(whyOf(error))
  }
}

const isTemporary = (error: unknown) =>
  [Unavailable, TooManyRequests, DiskFull, AlreadyRunning, Misconfigured].some(kind => error instanceof kind)

function whyOf(failure: Failure): string {
  if (failure instanceof NotFound || failure instanceof Unauthorized) return GONE
  if (failure instanceof Forbidden) return failure.reason ?? 'you may not comment on this any more'
  return failure instanceof Invalid ? `the ${failure.message}` : failure.message.replace(/^4\d\d /, '')
}

const GONE = 'what it replies to no longer exists, or you may not read it any more'

async function isAddressOf(userId: number, address: string): Promise<boolean> {
  const found = await row(
    `select 1 from users where id = ? and email_key = ? and email_confirmed_at is not null
     union select 1 from emails where user_id = ? and email_key = ? and confirmed_at is not null`,
    [userId, address, userId, address]
  )
  return found !== undefined
}

/** Tells the user, at most once in an hour: a program that replies by itself must not get a mail for each of its mails. */
async function refuse({ subject, text }: ReceivedMail, userId: number, { why, page }: Refusal): Promise<void> {
  const person = await findReachable(userId)
  if (!person) return
  await queueMail({
    once: `reply refused ${userId} ${hourOf(Date.now()).toISOString()}`,
    kind: 'reply-refused',
    facts: { about: oneLine(subject, 200), why, page, text: ownText(text.slice(0, LONGEST)).slice(0, LONGEST_SHOWN) },
    recipients: [{ userId, address: person.email, reason: 'replied' }]
  })
}
