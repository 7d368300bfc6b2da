// What new projects need: the application settings, free names, and an id for one that is imported.
import { randomBytes, randomInt } from 'node:crypto'
import { holds, knownStorages, storageNames } from '../../../cluster/storages.js'
import { execute, row } from '../../../db/connect/sql.js'
import { Unavailable } from '../../../errors.js'
import { PRIVATE, PUBLIC, VISIBILITIES } from '../../../lib/levels.js'
import type { Settings } from '../../ground/settings/settings.table.js'

/**
 * Returns the visibility level in the body of a new project, or else the default of the instance. Not specified: in a
 * group that is less visible than the default, the project gets the level of the group.
 */
export function visibilityOfNewProject(
  { visibility_level: level, public: open }: { visibility_level?: number; public?: boolean },
  { default_project_visibility: fallback }: Settings,
  namespace: { readonly kind: string; readonly visibilityLevel: number }
): number {
  if (level !== undefined) return level
  if (open !== undefined) return open ? PUBLIC : PRIVATE
  const { level: usual } = VISIBILITIES[fallback]
  return namespace.kind === 'group' ? Math.min(usual, namespace.visibilityLevel) : usual
}

/**
 * Returns the storage for a new project: the emptiest one of the settings that still exists, or else of all. Storages whose free bytes
 * nobody has measured are chosen at random. `here`: only one that belongs to this machine. Throws Unavailable when there is none.
 */
export function storageForProject({ repository_storages: chosen }: Settings, { here = false } = {}): string {
  const all = storageNames()
  const known = chosen.filter(name => all.includes(name))
  const names = (known.length > 0 ? known : all).filter(name => !here || holds(name))
  if (names.length === 0)
    throw new Unavailable('no storage for new projects belongs to this machine (gitstead storages list)')
  const free = new Map(knownStorages().map(({ name, freeBytes }) => [name, freeBytes ?? 0]))
  const most = Math.max(...names.map(name => free.get(name) ?? 0))
  const emptiest = names.filter(name => (free.get(name) ?? 0) === most)
  return emptiest[randomInt(emptiest.length)] as string
}

/**
 * Returns which of the name and the path of a new project another project in the namespace has. The database reports
 * only the conflict that it finds first, `found`; the other one is looked up.
 */
export async function takenNames(
  { namespaceId, name, path }: { readonly namespaceId: number; readonly name: string; readonly path: string },
  found: 'name' | 'path'
): Promise<string[]> {
  const [other, text] = found === 'path' ? (['name', name] as const) : (['path', path] as const)
  const same = await row(`select id from projects where namespace_id = ? and ${other}_key = lower(?)`, [
    namespaceId,
    text
  ])
  return ['name', 'path'].filter(each => each === found || same !== undefined)
}

/** Takes an id for a project that is inserted later. No other project gets it. Call it inside `transact`. */
export async function takeProjectId(storage: string): Promise<number> {
  const now = new Date()
  const token = randomBytes(32)
  const name = token.toString('hex')
  // No namespace has the number 0.
  const { insertId } = await execute(
    `insert into projects (namespace_id, name, path, storage, tag_list, runners_token_hash, runners_token_encrypted,
       last_activity_at, created_at, updated_at) values (0, ?, ?, ?, '[]', ?, '', ?, ?, ?)`,
    [name, name, storage, token, now, now, now]
  )
  await execute('delete from projects where id = ?', [insertId])
  return insertId
}
