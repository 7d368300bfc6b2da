// The data that payloads of builds and pipelines show in addition to the copies in their events.
import { marks, padded, row, rows } from '../../../../db/connect/sql.js'
import { type Commit, readCommit } from '../../../../git/objects/objects.js'
import type { PayloadProject, PayloadUser } from '../../../../webhooks/payloads.js'
import { payloadProject } from '../../../code/refs/pushes.js'
import type { ShownProject } from '../../../code/refs/ref-changes.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { MOST_BUILDS } from './publish.js'

interface ShownRow extends ShownProject {
  readonly storage: string
}

export interface ShownPlace {
  readonly project: PayloadProject
  /** The display names of namespace and project. */
  readonly projectName: string
  /** Null when the repository no longer has it. */
  readonly commit: Commit | null
}

/** Returns the project and the commit of a build or pipeline. Throws when the project no longer exists. */
export async function readPlace(projectId: number, sha: string): Promise<ShownPlace> {
  const found = await row<ShownRow>(
    `select p.id as project_id, p.storage, p.name as project_name, p.path as project_path, p.description,
       p.visibility_level, p.default_branch, n.name as namespace_name, n.path as namespace_path
     from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
    [projectId]
  )
  if (!found) throw new Error(`the project ${projectId} is gone, and so are its hooks`)
  return {
    project: payloadProject(found),
    projectName: `${found.namespace_name} / ${found.project_name}`,
    commit: await readCommit(repositoryPath({ id: projectId, storage: found.storage }), sha)
  }
}

/** Returns the users with these ids who still exist. */
export async function readUsers(ids: readonly (number | null)[]): Promise<ReadonlyMap<number, PayloadUser>> {
  const known = [...new Set(ids)].filter(id => id !== null)
  if (known.length === 0) return new Map()
  const listed = padded(known)
  const found = await rows<Omit<PayloadUser, 'avatarUrl'>>(
    `select id, name, username, email from users where id in (${marks(listed)})`,
    listed
  )
  return new Map(found.map(user => [user.id, { ...user, avatarUrl: null }]))
}

/** Returns the names of the stages of a pipeline, in order. */
export async function readStageNames(pipelineId: number): Promise<string[]> {
  const found = await rows<{ name: string }>(
    'select name from pipeline_stages where pipeline_id = ? order by position',
    [pipelineId]
  )
  return found.map(({ name }) => name)
}

export interface ShownBuild {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly start_when: string
  readonly user_id: number | null
  readonly created_at: Date
  readonly artifacts_filename: string | null
  readonly artifacts_size: number | null
  readonly runner_id: number | null
  readonly runner_description: string | null
  readonly runner_active: number | null
  readonly runner_is_shared: number | null
}

/** Returns the first builds of a pipeline, in order. */
export const readBuilds = (pipelineId: number): Promise<ShownBuild[]> =>
  rows<ShownBuild>(
    `select b.id, b.name, b.stage, b.start_when, b.user_id, b.created_at, b.artifacts_filename, b.artifacts_size,
       r.id as runner_id, r.description as runner_description, r.active as runner_active,
       r.is_shared as runner_is_shared
     from builds b left join runners r on r.id = b.runner_id
     where b.pipeline_id = ? order by b.id limit ${MOST_BUILDS}`,
    [pipelineId]
  )
