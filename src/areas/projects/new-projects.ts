// Applies the application settings to new projects.
import { config } from '../../config.js'
import { row } from '../../db/sql.js'
import { PRIVATE, PUBLIC, VISIBILITIES } from '../../lib/levels.js'
import type { Settings } from '../settings/settings.table.js'

/**
 * The visibility level that the body of a new project gives, or else the default of the instance. Not specified: where
 * the group is less visible than the default, the project is as visible as the group.
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

/** The storages for new projects: those of the settings that the configuration still has, or else all. */
export function storagesInUse({ repository_storages: chosen }: Settings): readonly string[] {
  const { storages } = config().repositories
  const known = chosen.filter(name => storages.includes(name))
  return known.length > 0 ? known : storages
}

/**
 * The errors of a new project whose name or path another one in the namespace has. The database names the one that it
 * looked at first, `found`; the other one is searched for.
 */
export async function takenNames(
  { namespaceId, name, path }: { readonly namespaceId: number; readonly name: string; readonly path: string },
  found: 'name' | 'path'
): Promise<Record<string, string[]>> {
  const [other, text] = found === 'path' ? (['name', name] as const) : (['path', path] as const)
  const same = await row(`select id from projects where namespace_id = ? and ${other}_key = lower(?)`, [
    namespaceId,
    text
  ])
  const names = ['name', 'path'].filter(each => each === found || same !== undefined)
  return Object.fromEntries(names.map(each => [each, ['has already been taken']]))
}
