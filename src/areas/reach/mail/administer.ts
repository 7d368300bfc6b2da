// What a sysadmin can do with mail that was not sent. Each change writes to the audit log in the same transaction.
import type { Origin } from '../../../access/actor.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { enqueueAll } from '../../../queue/enqueue.js'
import { audit, auditAll } from '../../ground/audit/audit.js'

/** How many failed mails one transaction queues again. */
const BATCH = 500

/** Sends a failed or canceled mail again, as if it had just been created, with two days of tries. Throws NotFound for any other mail. */
export async function retryMail(deliveryId: number, origin: Origin): Promise<void> {
  await transact(async () => {
    const found = await row<{ id: number; address: string }>(
      "select id, address from mail_deliveries where id = ? and state in ('failed', 'canceled') for update",
      [deliveryId]
    )
    if (!found) throw new NotFound('Mail')
    await again([found.id])
    await auditAll(origin, [{ action: 'mail.retry', target: { type: 'mail', id: found.id, name: found.address } }])
  })
}

/** Sends all failed mails again. Returns how many. */
export async function retryFailedMails(origin: Origin): Promise<number> {
  let count = 0
  for (let last = 0; ; ) {
    const ids = await transact(async () => {
      const found = await rows<{ id: number }>(
        `select id from mail_deliveries where state = 'failed' and id > ? order by id limit ${BATCH} for update`,
        [last]
      )
      const some = found.map(({ id }) => id)
      if (some.length > 0) await again(some)
      return some
    })
    count += ids.length
    last = ids.at(-1) ?? last
    if (ids.length < BATCH) break
  }
  if (count > 0)
    await transact(() =>
      audit(origin, {
        action: 'mail.retry',
        target: { type: 'mail', id: 'failed', name: 'all failed mails' },
        changes: { count: { after: count } }
      })
    )
  return count
}

async function again(ids: readonly number[]): Promise<void> {
  await execute(
    `update mail_deliveries set state = 'waiting', error = null, attempts = 0, created_at = ? where id in (${marks(ids)})`,
    [new Date(), ...ids]
  )
  await enqueueAll(
    'mail.send',
    ids.map(deliveryId => ({ deliveryId }))
  )
}

/** Lets an address get mail again after a bounce because its mailbox did not exist. Throws NotFound when it had not bounced. */
export async function unblockAddress(address: string, origin: Origin): Promise<{ address: string; error: string }> {
  return transact(async () => {
    const found = await row<{ address: string; error: string }>(
      'select address, error from mail_bounces where address = lower(?) for update',
      [address]
    )
    if (!found) throw new NotFound('Bounced address')
    await execute('delete from mail_bounces where address = ?', [found.address])
    await audit(origin, {
      action: 'mail.unblock',
      target: { type: 'address', id: found.address, name: found.address },
      changes: { error: { before: found.error } }
    })
    return found
  })
}
