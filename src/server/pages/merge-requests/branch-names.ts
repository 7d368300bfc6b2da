// The branches that forms offer.

import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { namedRefs } from '../../../areas/code/refs/ref-names.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'

/** How many branches a form offers; any other name can be typed. */
const MOST = 100

/** Returns the names of the first branches of a project, if the visitor may read them. */
export async function branchNames(project: ProjectRow, actor: Actor): Promise<string[]> {
  if (!may(actor, 'branch.read', project)) return []
  return (await namedRefs(project, 'refs/heads/')).slice(0, MOST).map(({ name }) => name)
}
