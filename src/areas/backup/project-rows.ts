// The rows of one project out of a backup, for an appliance in which they are gone.
import { join } from 'node:path'
import { duplicateKey } from '../../db/failure.js'
import { migrationStates } from '../../db/migrate.js'
import { execute, row, rows, type Value } from '../../db/sql.js'
import { Conflict } from '../../errors.js'
import type { Backup } from './copy-back.js'
import { DATABASE_UNIT, dumpFile, readDump } from './dump.js'

type Fields = Map<string, Value>

/** Table -> its rows, in the order in which they are put in. */
export type ProjectRows = ReadonlyMap<string, readonly Fields[]>

const OF_PROJECT: readonly (readonly [table: string, wanted: (fields: Fields, id: string) => boolean])[] = [
  ['projects', (fields, id) => fields.get('id') === id],
  ['hooks', (fields, id) => fields.get('project_id') === id],
  ['activity_events', (fields, id) => fields.get('project_id') === id],
  ['members', (fields, id) => fields.get('source_type') === 'project' && fields.get('source_id') === id],
  ['ref_changes', (fields, id) => fields.get('project_id') === id && fields.get('state') === 'done'],
  ['pipelines', (fields, id) => fields.get('project_id') === id],
  ['builds', (fields, id) => fields.get('project_id') === id]
]
/** Rows that are nothing without their user, and the column that names the user. */
const OF_PEOPLE = new Map([
  ['members', 'user_id'],
  ['activity_events', 'author_id']
])
const UNFINISHED = new Set<unknown>(['created', 'pending', 'running'])

/** Reads a project's rows. Throws Conflict for a backup of another schema than this one's. */
export async function readProjectRows({ folder, manifest }: Backup, id: number): Promise<ProjectRows> {
  const now = (await migrationStates()).map(({ name }) => name)
  if (now.join() !== manifest.database.migrations.join()) {
    throw new Conflict('the backup is of another schema: restore it whole elsewhere, and push the project from there')
  }
  const found = new Map<string, Fields[]>()
  for (const [table, wanted] of OF_PROJECT) {
    const columns = manifest.database.tables.find(({ name }) => name === table)?.columns ?? []
    const kept: Fields[] = []
    for await (const line of readDump(join(folder, DATABASE_UNIT, dumpFile(table)))) {
      const fields: Fields = new Map(
        columns.map(({ name, binary }, at) => {
          const value = line[at] ?? null
          return [name, binary && value !== null ? Buffer.from(value, 'base64') : value]
        })
      )
      if (wanted(fields, String(id))) kept.push(fields)
    }
    found.set(table, kept)
  }
  return found
}

/** Throws Conflict where the rows have no place: their namespace is gone, or the removal is still under way. */
export async function requirePlace(found: ProjectRows, id: number): Promise<void> {
  const [project] = found.get('projects') ?? []
  const namespace = await row('select 1 from namespaces where id = ?', [project?.get('namespace_id') ?? 0])
  if (!namespace) throw new Conflict('the namespace of the project is gone: restore the backup whole elsewhere')
  if (await row('select 1 from project_removals where project_id = ?', [id])) {
    throw new Conflict('the project is still being removed: wait until that is done')
  }
}

/** Puts the rows in; call it inside of `transact`. Throws Conflict where the name is taken by now. */
export async function insertProjectRows(found: ProjectRows): Promise<void> {
  const users = new Set((await rows<{ id: number }>('select id from users')).map(({ id }) => String(id)))
  for (const [table, list] of found) {
    for (const fields of list) {
      const whose = fields.get(OF_PEOPLE.get(table) ?? '')
      if (whose !== undefined && !users.has(String(whose))) continue
      await insert(table, adapted(table, fields, users))
    }
  }
}

/** Users that are gone are nobody; what ran is canceled, as nobody runs it any more. */
function adapted(table: string, fields: Fields, users: ReadonlySet<string>): Fields {
  const changed = new Map(fields)
  const now = new Date()
  for (const name of ['creator_id', 'user_id']) {
    const user = changed.get(name)
    if (user !== undefined && user !== null && !users.has(String(user))) changed.set(name, null)
  }
  if (table === 'projects') changed.set('optimise_at', null)
  if (table !== 'builds' && table !== 'pipelines') return changed
  if (UNFINISHED.has(changed.get('status'))) changed.set('status', 'canceled').set('finished_at', now)
  if (table === 'builds') for (const name of ['token_hash', 'process_id', 'lease_until']) changed.set(name, null)
  return changed
}

async function insert(table: string, fields: Fields): Promise<void> {
  const names = [...fields.keys()]
  try {
    await execute(
      `insert into ${table} (${names.map(name => `\`${name}\``).join(', ')}) values (${names.map(() => '?').join(', ')})`,
      [...fields.values()]
    )
  } catch (error) {
    const key = duplicateKey(error)
    if (key === undefined) throw error
    throw new Conflict(`the project cannot come back: its ${table} are taken by others (${key})`)
  }
}
