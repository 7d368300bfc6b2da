// Columns of projects that other areas keep up to date. Each function is one statement.
import { hasEnded } from '../../../cluster/clock.js'
import { execute, row } from '../../../db/connect/sql.js'
import { encrypt, newToken, tokenHash } from '../../../secrets.js'

/** Milliseconds. The row of a project records activity at most once an hour. */
const ACTIVE_FOR = 3_600_000

/** A project whose last activity was after this counts as active at `at`. */
export const activeSince = (at: Date): Date => new Date(at.getTime() - ACTIVE_FOR)

/** Records that a project was active at `at`, unless `before` shows that it was active a short time ago. */
export async function noteActivity(projectId: number, at: Date, before: Date | undefined): Promise<void> {
  const due = activeSince(at)
  // An update that changes nothing would still wait for the locks of all writers in the project.
  if (before === undefined || before >= due) return
  await execute('update projects set last_activity_at = ? where id = ? and last_activity_at < ?', [at, projectId, due])
}

/** Names another default branch. Returns false when `known` is no longer the default branch. */
export async function replaceDefaultBranch(projectId: number, known: string | null, branch: string): Promise<boolean> {
  const { affectedRows } = await execute(
    'update projects set default_branch = ? where id = ? and default_branch <=> ?',
    [branch, projectId, known]
  )
  return affectedRows > 0
}

/** Marks that the repository is optimised at `runAt`. Returns false when a mark later than `lost` exists. */
export async function markOptimisation(projectId: number, runAt: Date, lost: Date): Promise<boolean> {
  const { affectedRows } = await execute(
    'update projects set optimise_at = ? where id = ? and (optimise_at is null or optimise_at < ?)',
    [runAt, projectId, lost]
  )
  return affectedRows === 1
}

export async function clearOptimisation(projectId: number): Promise<void> {
  await execute('update projects set optimise_at = null where id = ?', [projectId])
}

/** Stores a new token with which the runners of a project register. Returns the token. */
export async function replaceRunnersToken(projectId: number): Promise<string> {
  const token = newToken()
  await execute('update projects set runners_token_hash = ?, runners_token_encrypted = ? where id = ?', [
    tokenHash(token),
    encrypt(token),
    projectId
  ])
  return token
}

/** Seconds for which changes of refs wait at most while a repository moves. */
export const LONGEST_HOLD_S = 30

/**
 * Lets changes of the refs of a project wait. Returns until when, in the time of the database; null when another process holds
 * the project, or when it is not in the storage.
 */
export async function holdProject({ id, storage }: { id: number; storage: string }): Promise<Date | null> {
  const { affectedRows } = await execute(
    `update projects set held_until = now(3) + interval ${LONGEST_HOLD_S} second
     where id = ? and storage = ? and (held_until is null or ${hasEnded('held_until', LONGEST_HOLD_S)})`,
    [id, storage]
  )
  if (affectedRows === 0) return null
  return (await row<{ until: Date }>('select held_until as until from projects where id = ?', [id]))?.until ?? null
}

/** Ends the wait that `holdProject` began. */
export async function releaseProject(id: number, until: Date): Promise<void> {
  await execute('update projects set held_until = null where id = ? and held_until = ?', [id, until])
}

/**
 * Names another storage, and ends the wait. Call it inside `transact`: no change of a ref begins until the end of the transaction.
 * Returns false when the wait is over already.
 */
export async function changeStorage(id: number, storage: string, until: Date): Promise<boolean> {
  const { affectedRows } = await execute(
    'update projects set storage = ?, held_until = null where id = ? and held_until = ? and held_until > now(3)',
    [storage, id, until]
  )
  return affectedRows === 1
}
