// Sends one mail to one recipient: marks it as being sent, hands it over, and records the result. A worker that is killed in
// between leaves the mark, and the next worker sends the mail again, so no mail is lost. Each worker sends one mail at a time, so
// a kill duplicates at most one mail.
import { setTimeout as sleep } from 'node:timers/promises'
import { config, publicUrl } from '../../../config.js'
import { execute, marks } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Unavailable } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { faultOf, type MailFault } from '../../../mail/faults.js'
import type { MailFacts, Sender } from '../../../mail/kinds.js'
import { messageOf } from '../../../mail/message.js'
import { type Rendered, render } from '../../../mail/render.js'
import { sendMessage } from '../../../mail/transport.js'
import { enqueue } from '../../../queue/enqueue.js'
import { backOff } from '../../../queue/jobs.js'
import { PlannedRetry } from '../../../queue/planned-retry.js'
import { readHtml } from '../../../text/reading.js'
import { type DeliveryRow, findDelivery, gotMails, gotPersonalMails, PERSONAL } from './deliveries.queries.js'
import { type Held, heldFor, hourOf, queueDigest } from './digest.js'
import { signedLink } from './links.js'
import { isSendable, SOON } from './outbox.js'
import { inTurn, noteServer, restingUntil } from './pacing.js'
import { fillingOf } from './recipient-facts.js'
import { replyAddress } from './reply-address.js'

/** Milliseconds. Servers that are down come back within two days, and later most mails are of no use. */
const LONGEST_WAIT = 2 * 86_400_000
/** Seconds that a try may take beyond its limit. */
const MARGIN = 2
/** Seconds. How long a worker tries to record a sent mail while the database is unavailable. */
const PATIENCE = 60

/**
 * Makes one attempt. When it fails, throws PlannedRetry, so that the queue counts and shows the failure and runs the job again.
 * Does nothing for a delivery that has ended.
 */
export async function sendDelivery(deliveryId: number, signal?: AbortSignal): Promise<void> {
  await inTurn(async () => {
    const delivery = await findDelivery(deliveryId)
    if (!delivery || !['waiting', 'sending'].includes(delivery.state)) return
    const unwanted = whyNot(delivery)
    if (unwanted !== null) return finish(delivery, 'canceled', unwanted)
    const rest = busyUntil(delivery) ?? restingUntil()
    if (rest) return postpone(delivery, rest)
    if (await isTooMany(delivery)) return hold(delivery)
    await attempt(delivery, signal)
  })
}

/** Returns why this mail is no longer sent to the recipient; null when it is. */
function whyNot({ user_id: userId, user_state: state, owned, bounced, always }: DeliveryRow): string | null {
  if (userId !== null && state === null) return 'the user is deleted'
  if (userId !== null && state !== 'active') return 'the user is blocked'
  if (always) return null
  // Security mail also goes to an address that was just replaced.
  if (userId !== null && !owned) return 'the user has another address now'
  return bounced ? 'the address bounced' : null
}

/**
 * Another worker may still be sending the mail although it lost its job because its heartbeat stopped. Returns when that worker
 * has given up, and the mail is sent again; null when no worker can be sending it.
 */
function busyUntil({ state, tried_at: triedAt }: DeliveryRow): Date | null {
  const until = (triedAt?.getTime() ?? 0) + (config().mail.smtp.send_timeout + MARGIN) * 1000
  return state === 'sending' && until > Date.now() ? new Date(until) : null
}

async function isTooMany(delivery: DeliveryRow): Promise<boolean> {
  const { kind, always, address, author_id: author } = delivery
  if (always || kind === 'digest') return false
  const [most, since] = [config().mail.per_hour, hourOf(Date.now())]
  if (!(await gotMails(address, since, most))) return false
  // Nobody may flood an address with mentions, so each person who causes them has a limit of their own.
  return !isPersonal(delivery) || gotPersonalMails(address, since, most, author)
}

/** Whether the mail is about a mention or an assignment: these people are asked for something. */
function isPersonal({ reason, facts }: DeliveryRow): boolean {
  if (!PERSONAL.some(name => name === reason)) return false
  return reason === 'mentioned' || (JSON.parse(facts) as { readonly assigns?: boolean }).assigns === true
}

async function hold(delivery: DeliveryRow): Promise<void> {
  await transact(async () => {
    if (await move(delivery, 'held')) await queueDigest(delivery)
  })
}

async function postpone({ id, always }: DeliveryRow, runAt: Date): Promise<void> {
  await enqueue('mail.send', { deliveryId: id }, { runAt, ...(always && { priority: SOON }) })
}

async function attempt(delivery: DeliveryRow, signal: AbortSignal | undefined): Promise<void> {
  const held = delivery.kind === 'digest' ? await heldFor(delivery) : null
  const filled = await filledOf(delivery, held)
  if (filled === null) return finish(delivery, 'canceled', 'the mail is no longer needed')
  if (!isSendable(delivery.address)) return finish(delivery, 'failed', 'the address is not valid')
  const made = letter(delivery, filled)
  if (made instanceof Error) return finish(delivery, 'failed', `it cannot be written: ${made.message}`)
  if (!(await move(delivery, 'sending'))) return
  try {
    await sendMessage(made, nameOf(delivery), signal)
  } catch (error) {
    const fault = faultOf(error)
    noteServer(fault.kind !== 'server')
    return fail(delivery, fault, held)
  }
  noteServer(true)
  await recordSent(delivery, held)
}

async function filledOf({ kind, facts: stored, user_id: userId, address }: DeliveryRow, held: Held | null) {
  if (kind === 'digest') return held?.filled ?? null
  const facts = JSON.parse(stored)
  if (kind !== 'issue' && kind !== 'merge-request' && kind !== 'note')
    return fillingOf(kind, facts, { userId, address })
  const { text, project, url } = facts as MailFacts[typeof kind]
  return { html: text === null ? null : await readHtml(text, { root: publicUrl(), project, page: url }) }
}

/** Returns the message, or the error of its template, which is the same in every try. */
function letter(delivery: DeliveryRow, filled: Readonly<Record<string, unknown>>) {
  const { address, name, reason, thread, project_id: projectId, path } = delivery
  const unsubscribeUrl = unsubscribeUrlOf(delivery)
  const recipient = { name, address }
  let rendered: Rendered
  let from: Sender | null | undefined
  let author: string | null | undefined
  let replyTo: string | null = null
  try {
    const facts = JSON.parse(delivery.facts)
    if (delivery.kind === 'push') from = facts.from
    author = facts.author
    if (delivery.user_id !== null && facts.answers) replyTo = replyAddress(delivery.user_id, facts.answers)
    const shown = { facts, filled, url: publicUrl(), recipient, reason, unsubscribeUrl, canReply: replyTo !== null }
    rendered = render(delivery.kind, shown)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
  const list = projectId === null || path === null ? null : { projectId, path }
  return messageOf({
    rendered,
    to: recipient,
    id: nameOf(delivery),
    thread,
    reason,
    list,
    unsubscribeUrl,
    from,
    replyTo,
    author
  })
}

function unsubscribeUrlOf(delivery: DeliveryRow): string | null {
  const { user_id: userId, project_id: projectId, target_type: type, target_id: id, kind } = delivery
  if (userId === null || projectId === null) return null
  if (kind === 'pipeline') return signedLink('unsubscribe', { userId, projectId, pipelines: true }, null)
  const target = type === null || id === null ? {} : { target: { type, id } }
  return signedLink('unsubscribe', { userId, projectId, ...target }, null)
}

/**
 * The name of a mail, for its Message-ID and its file. The time distinguishes mails with the same id from before a loss of the
 * database.
 */
const nameOf = ({ id, created_at: at }: DeliveryRow) =>
  `${at.toISOString().replace(/[-:]|\.\d+/g, '')}.${id}.${at.getTime().toString(36)}`

/** Returns false when the delivery has already ended. */
async function move({ id }: DeliveryRow, state: 'sending' | 'held'): Promise<boolean> {
  const tried = state === 'sending' ? ', attempts = attempts + 1' : ''
  const { affectedRows } = await execute(
    `update mail_deliveries set state = ?, tried_at = ?${tried} where id = ? and state in ('waiting', 'sending')`,
    [state, new Date(), id]
  )
  return affectedRows > 0
}

async function finish({ id, kind, user_id: userId, address }: DeliveryRow, state: 'failed' | 'canceled', why: string) {
  const error = why.slice(0, 500)
  await transact(async () => {
    const { affectedRows } = await execute(
      "update mail_deliveries set state = ?, error = ? where id = ? and state in ('waiting', 'sending')",
      [state, error, id]
    )
    // Otherwise the held mails of this digest would stay held forever, and request another digest each hour.
    if (kind !== 'digest' || affectedRows === 0) return
    await execute(
      "update mail_deliveries set state = ?, error = ? where address = ? and user_id <=> ? and state = 'held'",
      [state, error, address, userId]
    )
  })
}

/** The mail is sent. Without a record it would be sent again, so this waits while the database is briefly unavailable. */
async function recordSent(delivery: DeliveryRow, held: Held | null): Promise<void> {
  for (let second = 0; ; second++) {
    try {
      return await sent(delivery, held)
    } catch (error) {
      if (!(error instanceof Unavailable) || second >= PATIENCE) throw error
      await sleep(1000)
    }
  }
}

async function sent({ id, address, bounced }: DeliveryRow, held: Held | null): Promise<void> {
  const record = () =>
    execute("update mail_deliveries set state = 'sent', sent_at = ?, error = null where id = ?", [new Date(), id])
  // Most mails need no transaction.
  if (!held && !bounced) return void (await record())
  await transact(async () => {
    await record()
    for (const ids of batches(held?.ids ?? [], 500)) await endHeld(ids, 'digested', null)
    // The mailbox exists after all, so forget the bounce.
    await execute('delete from mail_bounces where address = lower(?)', [address])
  })
}

async function endHeld(ids: readonly number[], state: 'digested' | 'failed', error: string | null): Promise<void> {
  await execute(
    `update mail_deliveries set state = ?, error = ?, sent_at = ? where id in (${marks(ids)}) and state = 'held'`,
    [state, error, state === 'digested' ? new Date() : null, ...ids]
  )
}

/** Records a failure and plans the next try. */
async function fail(delivery: DeliveryRow, fault: MailFault, held: Held | null): Promise<never> {
  const next = new Date(Date.now() + backOff(delivery.attempts + 1) * 1000)
  const given = fault.kind === 'refused' || fault.kind === 'bounced'
  const over = given || next.getTime() > delivery.created_at.getTime() + LONGEST_WAIT
  await transact(async () => {
    await execute('update mail_deliveries set state = ?, error = ? where id = ?', [
      over ? 'failed' : 'waiting',
      fault.message,
      delivery.id
    ])
    if (over) for (const ids of batches(held?.ids ?? [], 500)) await endHeld(ids, 'failed', fault.message)
    if (fault.kind === 'bounced')
      await execute(
        `insert into mail_bounces (address, error, bounced_at) values (lower(?), ?, ?)
         on duplicate key update error = values(error), bounced_at = values(bounced_at)`,
        [delivery.address, fault.message, new Date()]
      )
  })
  throw new PlannedRetry(`mail to ${delivery.address}: ${fault.message}`, over ? null : next)
}
