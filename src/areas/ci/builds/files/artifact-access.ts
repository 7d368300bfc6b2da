// The users who may download the artifacts of a build, as its CI file says (`artifacts: access`). All of them see the
// build in the API.
import type { Actor } from '../../../../access/actor.js'
import { levelIn } from '../../../../access/authorize.js'
import type { ArtifactAccess } from '../../../../ci/config-types.js'
import { row } from '../../../../db/connect/sql.js'
import { DEVELOPER, MASTER } from '../../../../lib/levels.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'

const LEAST: { readonly [Access in ArtifactAccess]: number } = {
  all: 0,
  developer: DEVELOPER,
  maintainer: MASTER,
  none: Number.POSITIVE_INFINITY
}

/** Returns whether a user who sees a build may download its artifacts. Not specified: `none` also applies to owners. */
export async function mayDownload(project: ProjectRow, buildId: number, actor: Actor): Promise<boolean> {
  const found = await row<{ access: string | null }>(
    `select if(json_valid(plan), json_unquote(json_extract(plan, '$.options.artifacts.access')), null) as access
     from builds where id = ?`,
    [buildId]
  )
  const access = found?.access ?? 'all'
  // Builds of earlier versions have no value.
  return !(access in LEAST) || levelIn(project, actor) >= LEAST[access as ArtifactAccess]
}
