// What the application settings say of new projects. They count levels 0, 1, 2, where projects have 0, 10, 20.
import type { ActorUser } from '../../access/actor.js'
import { config } from '../../config.js'
import { Invalid } from '../../errors.js'
import { PRIVATE, PUBLIC, VISIBILITIES } from '../../lib/levels.js'
import type { Settings } from '../settings/settings.table.js'

/** The level that a new project is given, or else the instance's default. */
export function visibilityOfNewProject(
  { visibility_level: level, public: open }: { visibility_level?: number; public?: boolean },
  { default_project_visibility: fallback }: Settings
): number {
  if (level !== undefined) return level
  return open === undefined ? VISIBILITIES[fallback].level : open ? PUBLIC : PRIVATE
}

/** Throws Invalid for a level that the settings keep for administrators. */
export function checkVisibility(
  level: number,
  { admin }: ActorUser,
  { restricted_visibility_levels: restricted }: Settings
): void {
  const at = VISIBILITIES.findIndex(known => known.level === level)
  if (admin || !restricted?.some(value => value === at)) return
  throw new Invalid(
    'visibility_level',
    `${VISIBILITIES[at]?.name} visibility has been restricted by your administrator`
  )
}

/** Where new projects may lie: what the settings name and the configuration still has. */
export function storagesInUse({ repository_storages: chosen }: Settings): readonly string[] {
  const { storages } = config().repositories
  const known = chosen.filter(name => storages.includes(name))
  return known.length > 0 ? known : storages
}
