// Applies the settings about visibility. Settings use the levels 0, 1, 2; projects, groups and snippets use 0, 10, 20.
import type { ActorUser } from '../../../access/actor.js'
import { Invalid } from '../../../errors.js'
import { VISIBILITIES } from '../../../lib/levels.js'
import type { Settings } from './settings.table.js'

/** Throws Invalid for a level that the settings reserve for administrators. */
export function checkVisibility(
  level: number,
  { admin }: Pick<ActorUser, 'admin'>,
  { restricted_visibility_levels: restricted }: Settings
): void {
  const at = VISIBILITIES.findIndex(known => known.level === level)
  if (admin || !restricted?.some(value => value === at)) return
  throw new Invalid(
    'visibility_level',
    `${VISIBILITIES[at]?.name} visibility has been restricted by your administrator`
  )
}
