// Removes old records and files of mails, and ends deliveries that no job will send.
import { deleteInBatches, execute, marks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { removeOldFiles } from '../../../mail/file.js'
import { enqueuedPayloads } from '../../../queue/metrics.js'
import { daysAgo, type Task, type TaskContext } from '../../../queue/task.js'
import { queueDigest } from './digest.js'

/** Long enough to find out why a person missed a mail. */
const KEPT_DAYS = 30
/** All tries end within two days. */
const LATE_DAYS = 3
const BATCH = 200
const MOST = 10_000
const OVER = `m.created_at < ? and not exists
  (select 1 from mail_deliveries d where d.mail_id = m.id and d.state in ('waiting', 'sending', 'held'))`

export const oldMails: Task = {
  name: 'old_mails',
  schedule: '43 * * * *',
  about: `removes records of mails older than ${KEPT_DAYS} days, cancels mails that no job will send, and sends forgotten held mails`,
  run: async context => {
    await removeMails(context, daysAgo(KEPT_DAYS))
    return {
      forsaken: await endForsaken(context),
      held: await remindHeld(context),
      bounces: await forgetBounces(context)
    }
  }
}

export const oldMailFiles: Task = {
  name: 'old_mail_files',
  schedule: '44 * * * *',
  about: 'removes old mails from HOME/mail, by mail.file.max_age and mail.file.max_files',
  run: async ({ dryRun, count }) => {
    count(await removeOldFiles(dryRun))
    return undefined
  }
}

async function removeMails({ dryRun, signal, count }: TaskContext, before: Date): Promise<void> {
  if (dryRun) {
    const found = await row<{ total: number }>(`select count(*) as total from mails m where ${OVER}`, [before])
    return count(Number(found?.total ?? 0))
  }
  for (;;) {
    signal.throwIfAborted()
    const old = await rows<{ id: number }>(`select m.id from mails m where ${OVER} order by m.id limit ${BATCH}`, [
      before
    ])
    if (old.length === 0) return
    const ids = old.map(({ id }) => id)
    // One mail can have thousands of recipients.
    await deleteInBatches(`delete from mail_deliveries where mail_id in (${marks(ids)})`, ids, () =>
      signal.throwIfAborted()
    )
    await execute(`delete from mails where id in (${marks(ids)})`, ids)
    count(ids.length)
  }
}

/** Ends deliveries whose job no longer exists although it should have ended long ago. Returns how many. */
async function endForsaken({ dryRun }: TaskContext): Promise<number> {
  const late = await rows<{ id: number }>(
    `select id from mail_deliveries where state in ('waiting', 'sending') and created_at < ? order by id limit ${MOST}`,
    [daysAgo(LATE_DAYS)]
  )
  if (late.length === 0) return 0
  // Read after the rows: a delivery that ended in between has no job, and no longer waits.
  const waiting = await enqueuedPayloads('mail.send')
  const forsaken = late.filter(({ id }) => !waiting.has(JSON.stringify({ deliveryId: id })))
  if (!dryRun) await cancelMails(forsaken.map(({ id }) => ({ deliveryId: id })))
  return forsaken.length
}

/** Deletes old bounces of addresses that no user has, such as those of deleted users. Returns how many. */
async function forgetBounces({ dryRun }: TaskContext): Promise<number> {
  const found = await rows<{ address: string }>(
    `select b.address from mail_bounces b where b.bounced_at < ?
       and not exists (select 1 from users u where u.email_key = b.address)
       and not exists (select 1 from emails e where e.email_key = b.address) limit 1000`,
    [daysAgo(KEPT_DAYS)]
  )
  const addresses = found.map(({ address }) => address)
  if (!dryRun && addresses.length > 0)
    await execute(`delete from mail_bounces where address in (${marks(addresses)})`, addresses)
  return addresses.length
}

/** Cancels pending deliveries. Call it when their jobs are discarded. */
export async function cancelMails(which: readonly { readonly deliveryId: number }[]): Promise<void> {
  for (let at = 0; at < which.length; at += 1000) {
    const ids = which.slice(at, at + 1000).map(({ deliveryId }) => deliveryId)
    await execute(
      `update mail_deliveries set state = 'canceled', error = 'its job was discarded'
       where id in (${marks(ids)}) and state in ('waiting', 'sending')`,
      ids
    )
  }
}

/**
 * Queues another digest for mails that were held two hours ago: their digest was sent too early because of a late clock, or there
 * were more mails than one digest covers. Returns the number of recipients.
 */
async function remindHeld({ dryRun }: TaskContext): Promise<number> {
  const found = await rows<{ user_id: number | null; address: string }>(
    `select distinct user_id, address from mail_deliveries where state = 'held' and tried_at < ? limit 1000`,
    [new Date(Date.now() - 2 * 3_600_000)]
  )
  if (!dryRun) for (const to of found) await transact(() => queueDigest(to))
  return found.length
}
