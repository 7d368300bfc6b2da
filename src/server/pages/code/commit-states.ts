// The state of the newest pipelines of commits, for lists of commits.
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { latestStatusesOf } from '../../../areas/code/repository/commit-status.queries.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { path, state } from '../components.js'
import { projectPath } from '../place.js'

/** Returns the state of a commit as HTML; an empty text without a pipeline. */
export type StateOf = (commitId: string) => string

/**
 * Reads the states of commits with one statement. The API shows the status of a commit to all its readers, so the states are shown to
 * them; only readers of pipelines get links. `project` is undefined when the visitor may not see it.
 */
export async function readStates(
  project: ProjectRow | undefined,
  actor: Actor,
  commitIds: readonly string[]
): Promise<StateOf> {
  if (!project || !may(actor, 'commit.read', project)) return () => ''
  const found = await latestStatusesOf(project.id, commitIds)
  const base = may(actor, 'pipeline.read', project) ? projectPath(project) : undefined
  return id => {
    const known = found.get(id)
    if (!known) return ''
    const badge = state(known.status)
    return base === undefined
      ? badge
      : `<a href="${base}${path('pipelines', known.pipelineId)}" title="Pipeline #${known.pipelineId}">${badge}</a>`
  }
}
