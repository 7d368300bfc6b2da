// Shows a user who pushes a branch where its merge request is, or the page that opens one.
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { publicUrl } from '../../../config.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { ZERO } from '../../../git/refs/refs.js'
import { visible } from '../../../lib/visible.js'
import { log } from '../../../log.js'
import type { OpenChange } from '../../code/refs/ref-changes.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'

/** The maximum number of branches of one push to name. */
const MOST_BRANCHES = 5
const BRANCH = 'refs/heads/'

/** Returns the lines for the user about merge requests of the pushed branches. Never throws. */
export async function describeMergeRequests(
  project: ProjectRow,
  changes: readonly OpenChange[],
  actor: Actor
): Promise<string[]> {
  const pushed = changes
    .filter(({ ref, new: id }) => ref.startsWith(BRANCH) && id !== ZERO)
    .map(({ ref, old }) => ({ branch: ref.slice(BRANCH.length), isNew: old === ZERO }))
    .filter(({ branch }) => branch !== project.default_branch)
    .slice(0, MOST_BRANCHES)
  // The first push makes the default branch, and nothing can be merged into anything yet.
  if (pushed.length === 0 || project.default_branch === null) return []
  if (!may(actor, 'merge_request.read', project)) return []
  try {
    const open = await openBetween(
      project.id,
      pushed.map(({ branch }) => branch)
    )
    const mayCreate = may(actor, 'merge_request.create', project)
    return pushed.flatMap(({ branch, isNew }) => {
      const own = open.filter(({ source_branch: source }) => source === branch)
      if (own.length > 0) return own.flatMap(({ iid }) => linesOf(`merge request !${iid}:`, urlOf(project, `/${iid}`)))
      if (!isNew || !mayCreate) return []
      const query = new URLSearchParams({ 'merge_request[source_branch]': branch })
      return linesOf(`open a merge request for ${visible(branch)}:`, urlOf(project, `/new?${query}`))
    })
  } catch (error) {
    log().warn({ error, project: project.id }, 'the merge requests of a push could not be described')
    return []
  }
}

const linesOf = (text: string, url: string): string[] => [text, `  ${url}`]

const urlOf = ({ namespace_path, path }: ProjectRow, rest: string): string =>
  `${publicUrl()}/${namespace_path}/${path}/merge_requests${rest}`

/** Returns open merge requests within a project, from these branches. */
const openBetween = (projectId: number, branches: readonly string[]) =>
  rows<{ readonly iid: number; readonly source_branch: string }>(
    `select iid, source_branch from merge_requests where source_project_id = ? and source_branch in (${marks(branches)})
       and phase = 'opened' and target_project_id = ? order by id limit ${MOST_BRANCHES}`,
    [projectId, ...branches, projectId]
  )
