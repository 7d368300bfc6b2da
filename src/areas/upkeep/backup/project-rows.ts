// Reads the rows of one project from a backup and inserts them into an appliance that has lost them.
import { join } from 'node:path'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { goesWith, ownersOf, restoringOf, tablesOf } from '../../../db/ownership/owned-tables.js'
import type { TableName } from '../../../db/ownership/ownership.js'
import { migrationStates } from '../../../db/schema/migrate.js'
import { Conflict, NoSuch, NotFound } from '../../../errors.js'
import type { LfsKey } from '../../../storage/lfs.js'
import type { Backup } from './copy-back.js'
import { DATABASE_UNIT, dumpFile, readDump } from './dump.js'
import { type Fields, fitter, holds, idsOf, type ProjectRows } from './fit-rows.js'

/** Reads the rows of a project. Throws Conflict when the backup has another schema than this appliance. */
export async function readProjectRows(backup: Backup, id: number): Promise<ProjectRows> {
  const now = (await migrationStates()).map(({ name }) => name)
  if (now.join() !== backup.manifest.database.migrations.join()) {
    throw new Conflict(
      'the backup has another schema: restore it as a whole elsewhere, and push the project from there'
    )
  }
  const found = new Map<TableName, readonly Fields[]>()
  const ids = new Map<string, ReadonlySet<string>>()
  for (const table of tablesOf('projects')) {
    if (!restoringOf(table)) continue
    const wanted = table === 'projects' ? isProject(id) : isOwned(table, ids)
    const kept: Fields[] = []
    for await (const fields of readTable(backup, table)) if (wanted(fields)) kept.push(fields)
    found.set(table, kept)
    ids.set(table, idsOf(kept))
  }
  return found
}

const isProject = (id: number) => (fields: Fields) => fields.get('id') === String(id)

/** Returns whether a row belongs to one of the rows that were read before. */
function isOwned(table: TableName, ids: ReadonlyMap<string, ReadonlySet<string>>): (fields: Fields) => boolean {
  const links = ownersOf(table).filter(goesWith)
  const only = restoringOf(table)?.only
  return fields =>
    holds(fields, only) &&
    links.some(({ to, column, when }) => holds(fields, when) && ids.get(to)?.has(String(fields.get(column))))
}

async function* readTable({ folder, manifest }: Backup, table: TableName): AsyncGenerator<Fields> {
  const columns = manifest.database.tables.find(({ name }) => name === table)?.columns ?? []
  for await (const line of readDump(join(folder, DATABASE_UNIT, dumpFile(table)))) {
    yield new Map(
      columns.map(({ name, binary }, at) => {
        const value = line[at] ?? null
        return [name, binary && value !== null ? Buffer.from(value, 'base64') : value]
      })
    )
  }
}

/** Returns the objects of LFS that a project had. Backups of earlier versions have none. */
export async function linksInBackup(backup: Backup, projectId: number): Promise<LfsKey[]> {
  if (backup.manifest.database.tables.every(({ name }) => name !== 'lfs_links')) return []
  const links: LfsKey[] = []
  for await (const fields of readTable(backup, 'lfs_links')) {
    if (fields.get('project_id') === String(projectId)) links.push(lfsKeyOf(fields))
  }
  return links
}

export const lfsKeyOf = (fields: Fields): LfsKey => ({
  oid: String(fields.get('oid')),
  size: Number(fields.get('size'))
})

/** A project in the rows of a backup. */
export interface ProjectInBackup {
  readonly id: number
  /** NAMESPACE/PROJECT. */
  readonly path: string
}

/** Finds a project by its NAMESPACE/PROJECT or id in the rows: a project without a repository has no unit. */
export async function findProjectRow(backup: Backup, name: string): Promise<ProjectInBackup | undefined> {
  const namespaces = new Map<unknown, unknown>()
  for await (const fields of readTable(backup, 'namespaces')) namespaces.set(fields.get('id'), fields.get('path'))
  for await (const fields of readTable(backup, 'projects')) {
    const path = `${namespaces.get(fields.get('namespace_id'))}/${fields.get('path')}`
    if (path === name || fields.get('id') === name) return { id: Number(fields.get('id')), path }
  }
  return undefined
}

/** The namespace in which a removed project is restored. */
export interface Place {
  readonly id: number
  readonly path: string
  /** The owner of a user's namespace; null for a group. */
  readonly owner_id: number | null
}

/**
 * Finds the place of a removed project: its own namespace, or the one with the path `into`. Throws Conflict when the namespace no
 * longer exists, when it has another project with this name, or when the project is still being removed.
 */
export async function placeOf(found: ProjectRows, id: number, into?: string): Promise<Place> {
  const [project] = found.get('projects') ?? []
  if (!project) throw new NotFound('Project')
  const place = await row<Place>(
    `select id, path, if(kind = 'user', owner_id, null) as owner_id from namespaces
     where ${into === undefined ? 'id' : 'path'} = ?`,
    [into ?? project.get('namespace_id') ?? 0]
  )
  if (!place && into !== undefined) throw new NoSuch('namespace', into)
  if (!place) throw new Conflict('the namespace of the project is gone: choose another one with --into NAMESPACE')
  if (await row('select 1 from project_removals where project_id = ?', [id])) {
    throw new Conflict('the project is still being removed: wait until that is done')
  }
  const taken = await row<{ path: string }>(
    'select path from projects where namespace_id = ? and (path = ? or name = ?)',
    [place.id, project.get('path') ?? '', project.get('name') ?? '']
  )
  if (taken)
    throw new Conflict(`${place.path}/${taken.path} already exists: rename it, or choose another --into NAMESPACE`)
  return place
}

/** Returns the rows with the project in this place. */
export function movedTo({ id }: Place, found: ProjectRows): ProjectRows {
  const projects = (found.get('projects') ?? []).map(fields => new Map([...fields, ['namespace_id', id] as const]))
  return new Map([...found, ['projects', projects] as const])
}

/** Inserts the rows. Call it inside `transact`. Throws Conflict when the name was taken in the meantime. */
export async function insertProjectRows(found: ProjectRows): Promise<void> {
  const fit = await fitter(found)
  for (const [table, list] of found) {
    for (const fields of list) {
      const fitted = fit(table, fields)
      if (fitted) await insert(table, fitted)
    }
  }
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
    throw new Conflict(`the project cannot be restored: other records use its ${table} (${key})`)
  }
}
