// Applies the application settings to new projects. Settings number the visibility levels 0, 1, 2, projects 0, 10, 20.
import type { ActorUser } from '../../access/actor.js'
import { config } from '../../config.js'
import { Invalid } from '../../errors.js'
import { PRIVATE, PUBLIC, VISIBILITIES } from '../../lib/levels.js'
import type { Settings } from '../settings/settings.table.js'

/** The visibility level that the body of a new project gives, or else the default of the instance. */
export function visibilityOfNewProject(
  { visibility_level: level, public: open }: { visibility_level?: number; public?: boolean },
  { default_project_visibility: fallback }: Settings
): number {
  if (level !== undefined) return level
  return open === undefined ? VISIBILITIES[fallback].level : open ? PUBLIC : PRIVATE
}

/** Throws Invalid for a level that, by the settings, only administrators may use. */
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

/** The storages for new projects: those of the settings that the configuration still has, or else all. */
export function storagesInUse({ repository_storages: chosen }: Settings): readonly string[] {
  const { storages } = config().repositories
  const known = chosen.filter(name => storages.includes(name))
  return known.length > 0 ? known : storages
}
