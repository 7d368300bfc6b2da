// Which mails were received, so that a mail that arrives twice is one comment.
import { createHash } from 'node:crypto'
import { execute, row } from '../../../db/connect/sql.js'
import { daysAgo, removeRows, type Task } from '../../../queue/task.js'
import type { ReplyTicket } from '../mail/reply-address.js'

/** Milliseconds. A process that needs longer has been killed: it ends by itself before (receive.ts of the command). */
const LEASE = 300_000
/** Servers try for at most some days to deliver a mail. */
const KEPT_DAYS = 30

/** Returns the name of a mail to one address. The addresses of other users cannot take it. */
export const nameOf = (identity: Buffer, { userId, subject: { type, id } }: ReplyTicket): Buffer =>
  createHash('sha256').update(`${userId} ${type} ${id} `).update(identity).digest()

/**
 * Marks a mail as being handled: `mine`. It is `done` when it was handled before, and `busy` while another process handles it.
 * A process that is killed has marked the mail together with its comment. A mail of commands only may run them again after the
 * lease.
 */
export async function begin(name: Buffer): Promise<'mine' | 'done' | 'busy'> {
  const now = new Date()
  const { affectedRows } = await execute(
    'insert ignore into received_mails (name_hash, done, begun_at) values (?, false, ?)',
    [name, now]
  )
  if (affectedRows === 1) return 'mine'
  const found = await row<{ done: number }>('select done from received_mails where name_hash = ?', [name])
  if (found?.done === 1) return 'done'
  const taken = await execute(
    'update received_mails set begun_at = ? where name_hash = ? and not done and begun_at < ?',
    [now, name, new Date(now.getTime() - LEASE)]
  )
  return taken.affectedRows === 1 ? 'mine' : 'busy'
}

/** Call it in the transaction of the comment, so that both are written or none. */
export async function finish(name: Buffer): Promise<void> {
  await execute('update received_mails set done = true where name_hash = ?', [name])
}

/** Lets the next delivery of the mail try again. */
export async function giveUp(name: Buffer): Promise<void> {
  await execute('delete from received_mails where name_hash = ? and not done', [name])
}

export const oldReceivedMails: Task = {
  name: 'old_received_mails',
  schedule: '47 3 * * *',
  about: `forgets which mails were received more than ${KEPT_DAYS} days ago`,
  run: context => removeRows(context, 'received_mails', 'begun_at < ?', [daysAgo(KEPT_DAYS)])
}
