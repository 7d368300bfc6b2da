// Applies the application settings to new projects.
import { config } from '../../config.js'
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

/** The storages for new projects: those of the settings that the configuration still has, or else all. */
export function storagesInUse({ repository_storages: chosen }: Settings): readonly string[] {
  const { storages } = config().repositories
  const known = chosen.filter(name => storages.includes(name))
  return known.length > 0 ? known : storages
}
