// Determines what a rollback destroys, from the `down` statements of its migrations before any of them runs, and who
// else uses the database.

import { row, rows } from '../connect/sql.js'
import { migrations } from '../migrations/list.js'
import type { Migration } from '../migrations/migration.js'
import { migrationStates, requireNoNewer } from './migrate.js'

/** A table that is dropped with its rows, a column that is dropped with its values, or rows that are deleted. */
interface Loss {
  readonly table: string
  /** Null when whole rows are lost, because their table is dropped or they are deleted. */
  readonly column: string | null
  /** The number of lost rows, or of rows in which the column does not have its default value. */
  readonly rows: number
}

export interface RollbackStep {
  readonly migration: string
  readonly losses: readonly Loss[]
}

/** Returns the newest `steps` applied migrations, newest first, with the losses of each. */
export async function planRollback(steps: number): Promise<RollbackStep[]> {
  await requireNoNewer()
  const applied = new Set(
    (await migrationStates()).filter(state => state.applied_at || state.half_undone).map(({ name }) => name)
  )
  const undone = migrations
    .filter(({ name }) => applied.has(name))
    .reverse()
    .slice(0, steps)
  const plan: RollbackStep[] = []
  const told = new Set<string>()
  for (const migration of undone) {
    const losses: Loss[] = []
    for (const loss of await lossesOf(migration)) {
      const key = `${loss.table}.${loss.column}`
      // An earlier step already removes it.
      if (told.has(key) || told.has(`${loss.table}.null`)) continue
      told.add(key)
      losses.push(loss)
    }
    plan.push({ migration: migration.name, losses })
  }
  return plan
}

const DROP_TABLE = /^\s*drop table (?:if exists )?`?(\w+)`?\s*$/i
const ALTER = /^\s*alter table `?(\w+)`?\s/i
const DROP_COLUMN = /\bdrop column `?(\w+)`?/gi
const DELETE = /^\s*delete from `?(\w+)`?\s([\s\S]*)$/i

async function lossesOf({ down, carried = {} }: Migration): Promise<Loss[]> {
  const losses: Loss[] = []
  for (const statement of down) {
    const table = DROP_TABLE.exec(statement)?.[1]
    if (table !== undefined && (await exists(table))) {
      const stays = carried[table]
      losses.push({ table, column: null, rows: await count(table, stays === undefined ? '1' : `not (${stays})`) })
    }
    const altered = ALTER.exec(statement)?.[1]
    for (const [, column] of altered === undefined ? [] : statement.matchAll(DROP_COLUMN)) {
      const known = altered !== undefined && column !== undefined ? await columnOf(altered, column) : undefined
      if (known) losses.push({ table: known.table, column: known.column, rows: await countValues(known) })
    }
    const [, from, condition] = DELETE.exec(statement) ?? []
    if (from !== undefined && (await exists(from))) {
      const found = await row<{ n: number }>(`select count(*) as n from ${from} ${condition}`)
      if (found && found.n > 0) losses.push({ table: from, column: null, rows: found.n })
    }
  }
  return losses
}

async function exists(table: string): Promise<boolean> {
  const found = await row(
    'select 1 from information_schema.tables where table_schema = database() and table_name = ?',
    [table]
  )
  return found !== undefined
}

async function count(table: string, condition: string): Promise<number> {
  return (await row<{ n: number }>(`select count(*) as n from \`${table}\` where ${condition}`))?.n ?? 0
}

interface Column {
  readonly table: string
  readonly column: string
  readonly nullable: 'YES' | 'NO'
  readonly preset: string | null
}

const columnOf = (table: string, column: string): Promise<Column | undefined> =>
  row<Column>(
    `select table_name as \`table\`, column_name as \`column\`, is_nullable as nullable, column_default as preset
     from information_schema.columns where table_schema = database() and table_name = ? and column_name = ?`,
    [table, column]
  )

/**
 * Counts the rows in which a column does not have its default value. MariaDB reports the text NULL as the default of a
 * column that may be null.
 */
function countValues({ table, column, nullable, preset }: Column): Promise<number> {
  const hasDefault = preset !== null && preset !== 'NULL'
  if (hasDefault) return count(table, `\`${column}\` is not null and \`${column}\` <> default(\`${column}\`)`)
  return count(table, nullable === 'YES' ? `\`${column}\` is not null` : '1')
}

/**
 * Returns who else works with the database: live workers, and connections of other processes. Call it before any other
 * statement, because the pools of this process may open several connections.
 */
export async function othersAtWork(): Promise<string[]> {
  const connections = await rows<{ id: number }>(
    'select id as id from information_schema.processlist where db = database() and id <> connection_id()'
  )
  const known = await row(
    "select 1 from information_schema.tables where table_schema = database() and table_name = 'job_processes'"
  )
  const workers = known
    ? await rows<{ hostname: string; pid: number }>(
        'select hostname, pid from job_processes where lease_until > now(3)'
      )
    : []
  return [
    ...workers.map(({ hostname, pid }) => `worker ${pid} on ${hostname}`),
    ...(connections.length > 0 ? [`${connections.length} connections of other processes to the database`] : [])
  ]
}
