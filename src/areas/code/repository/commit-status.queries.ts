import { aggregateStatus, type BuildStatus } from '../../../ci/status.js'
import { marks, padded, rows } from '../../../db/connect/sql.js'

/** Most commits have fewer pipelines. Reading so many costs the database half as much as finding the newest ones by their ids. */
const FEW = 20

interface Pipeline {
  readonly ref: string
  readonly tag: number
  readonly status: BuildStatus
}

/** Returns the combined status of a commit's newest pipelines, one for each branch or tag; null when it has no pipeline. */
export async function latestStatusOf(projectId: number, sha: string): Promise<string | null> {
  const some = await rows<Pipeline>(
    `select ref, tag, status from pipelines where project_id = ? and sha = ? and is_child = false
     order by id desc limit ${FEW}`,
    [projectId, sha]
  )
  const latest = some.length < FEW ? newestOf(some) : await readNewest(projectId, sha)
  return latest.length === 0 ? null : aggregateStatus(latest.map(({ status }) => ({ status, allowFailure: false })))
}

/** Returns the first pipeline of each branch or tag. */
const newestOf = (pipelines: readonly Pipeline[]): readonly Pipeline[] => [
  ...new Map(pipelines.toReversed().map(pipeline => [`${pipeline.tag} ${pipeline.ref}`, pipeline])).values()
]

/** Schedules start any number of pipelines for the same commit. */
const readNewest = (projectId: number, sha: string): Promise<Pick<Pipeline, 'status'>[]> =>
  rows(
    `select status from pipelines where id in
       (select max(id) from pipelines where project_id = ? and sha = ? and is_child = false group by ref, tag)`,
    [projectId, sha]
  )

export interface CommitState {
  readonly status: string
  /** The newest pipeline with this status, or the newest one when they differ. */
  readonly pipelineId: number
}

/** Returns the combined statuses of some commits by their ids; commits without a pipeline are missing. */
export async function latestStatusesOf(
  projectId: number,
  shas: readonly string[]
): Promise<ReadonlyMap<string, CommitState>> {
  if (shas.length === 0) return new Map()
  const listed = padded(shas)
  const latest = await rows<{ id: number; sha: string; status: BuildStatus }>(
    `select id, sha, status from pipelines where id in
       (select max(id) from pipelines where project_id = ? and sha in (${marks(listed)}) and is_child = false
        group by sha, ref, tag) order by id`,
    [projectId, ...listed]
  )
  const all = Map.groupBy(latest, ({ sha }) => sha)
  return new Map([...all].map(([sha, some]) => [sha, stateOf(some)]))
}

function stateOf(pipelines: readonly { readonly id: number; readonly status: BuildStatus }[]): CommitState {
  const status = aggregateStatus(pipelines.map(({ status }) => ({ status, allowFailure: false })))
  const { id } = pipelines.findLast(pipeline => pipeline.status === status) ?? pipelines.at(-1) ?? { id: 0 }
  return { status, pipelineId: id }
}
