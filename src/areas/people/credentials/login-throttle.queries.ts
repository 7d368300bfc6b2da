// Shares the counts of wrong passwords among all server processes of the appliance.
import { createHash } from 'node:crypto'
import { execute, marks, rows } from '../../../db/connect/sql.js'
import { removeRows, type Task } from '../../../queue/task.js'

export interface Known {
  readonly wrong: number
  readonly until: Date
}

const hashOf = (key: string) => createHash('sha256').update(key).digest()

/** Returns what the processes have noted under each key, in the order of the keys; undefined for keys without a note. */
export async function readAttempts(keys: readonly string[]): Promise<(Known | undefined)[]> {
  const hashes = keys.map(hashOf)
  const found = await rows<{ key_hash: Buffer; wrong: number; until_at: Date }>(
    `select key_hash, wrong, until_at from password_attempts where key_hash in (${marks(hashes)}) and until_at > ?`,
    [...hashes, new Date()]
  )
  return hashes.map(hash => {
    const one = found.find(({ key_hash }) => hash.equals(key_hash))
    return one && { wrong: one.wrong, until: one.until_at }
  })
}

/** Counts one more wrong password under each key. A window begins with the first one; later ones do not extend it. */
export async function noteWrong(counts: readonly { readonly key: string; readonly until: Date }[]): Promise<void> {
  const now = new Date()
  // All processes use the same order, so that two processes never wait for each other.
  const hashed = counts
    .map(({ key, until }) => ({ hash: hashOf(key), until }))
    .sort((a, b) => Buffer.compare(a.hash, b.hash))
  await execute(
    `insert into password_attempts (key_hash, wrong, until_at) values ${hashed.map(() => '(?, 1, ?)').join(', ')}
     on duplicate key update wrong = if(until_at > ?, wrong + 1, 1), until_at = if(until_at > ?, until_at, values(until_at))`,
    [...hashed.flatMap(({ hash, until }) => [hash, until]), now, now]
  )
}

/** Notes that a password was right. */
export async function noteRight(key: string, until: Date): Promise<void> {
  await execute(
    `insert into password_attempts (key_hash, wrong, until_at) values (?, 0, ?)
     on duplicate key update until_at = values(until_at)`,
    [hashOf(key), until]
  )
}

export const oldPasswordAttempts: Task = {
  name: 'old_password_attempts',
  schedule: '48 3 * * *',
  about: 'removes counts of wrong passwords that no longer count',
  run: context => removeRows(context, 'password_attempts', 'until_at < ?', [new Date()])
}
