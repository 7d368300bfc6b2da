// Requests to work on a migration. Each makes a job; its turn is the number of the request, so the job of an earlier one does nothing.
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { AlreadyRunning, Conflict, Invalid, NotFound } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { audit } from '../../ground/audit/audit.js'
import { laneOf } from '../../ground/hooks/targets.js'
import {
  addMigration,
  type Migration,
  removeMigration,
  requireMigration,
  targetOf,
  type Work
} from '../runs/migrations.js'
import { checkPeople } from '../runs/namespaces.js'
import { assignPlaceholder, type Placeholder, requirePlaceholderOf } from '../runs/placeholders.js'
import type { NewMigration, WorkOptions } from './migrations.schema.js'

/** Adds a migration. Throws Invalid, and Conflict when there is one with this name. */
export async function createMigration(wish: NewMigration, origin: Origin): Promise<Migration> {
  const { name, token, kind, url, map = {}, people = {}, rate = 50, keys = false } = wish
  await checkPeople(people).catch(error => {
    throw error instanceof NotFound ? new Invalid('people', `are wrong: ${error.message}`) : error
  })
  const [comments, trust] = [wish.commit_comments === true, wish.trust_addresses === true]
  return addMigration(name, token, { kind, url, map, people, rate, keys, comments, trust }, origin)
}

/** Removes a migration. Throws Conflict while somebody works on it. */
export async function deleteMigration(migration: Migration, origin: Origin): Promise<Migration> {
  await removeMigration(migration, origin).catch(error => {
    throw error instanceof AlreadyRunning ? busy(migration) : error
  })
  return migration
}

const busy = ({ name }: Migration) => new Conflict(`the migration ${name} is being worked on: cancel that first`)

/** Asks for work on a migration. Throws Conflict while a request or a command works on it. */
export async function requestWork(
  migration: Migration,
  work: Work,
  options: WorkOptions,
  origin: Origin
): Promise<Migration> {
  const { id } = migration
  if (migration.row.is_busy === 1) throw busy(migration)
  await transact(async () => {
    const { affectedRows } = await execute(
      `update migrations set state = 'waiting', work = ?, options = ?, turn = turn + 1, progress = null, error = null,
         requested_at = ?, started_at = null, ended_at = null where id = ? and state not in ('waiting', 'running')`,
      [work, JSON.stringify(options), new Date(), id]
    )
    if (affectedRows === 0) throw busy(migration)
    const found = await row<{ turn: number }>('select turn from migrations where id = ?', [id])
    await enqueueTurn(id, found?.turn ?? 0)
    const changes = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, { after: value }]))
    await audit(origin, { action: `migration.${work}`, target: targetOf(migration), changes })
  })
  return requireMigration(id)
}

/** Each migration has its own lane, so that none holds up another one, or a mirror. */
export const enqueueTurn = (migrationId: number, turn: number, runAt = new Date()): Promise<unknown> =>
  enqueue('migration.work', { migrationId, turn }, { runAt, lane: laneOf(`migration ${migrationId}`) })

/** Ends the work of a request; a worker notices that within seconds. Throws Conflict when none waits or runs. */
export async function cancelWork(migration: Migration, origin: Origin): Promise<Migration> {
  const { id, name } = migration
  await transact(async () => {
    const { affectedRows } = await execute(
      `update migrations set state = 'canceled', progress = null, error = null, ended_at = ?
       where id = ? and state in ('waiting', 'running')`,
      [new Date(), id]
    )
    if (affectedRows === 0) throw new Conflict(`no request works on the migration ${name}`)
    await audit(origin, { action: 'migration.cancel', target: targetOf(migration) })
  })
  return requireMigration(id)
}

/** Gives everything of a placeholder of this source to a user, and deletes the placeholder. Returns it. Throws NotFound and Conflict. */
export async function assign(
  migration: Migration,
  placeholderId: number,
  user: string,
  origin: Origin
): Promise<Placeholder> {
  const placeholder = await requirePlaceholderOf(migration, placeholderId)
  await assignPlaceholder(placeholder, user, origin)
  return placeholder
}
