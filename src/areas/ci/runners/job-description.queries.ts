import type { PipelineSource } from '../../../ci/refs.js'
import { row, rows } from '../../../db/connect/sql.js'
import type { ArtifactsRow } from '../builds/artifacts.js'

/** The data of a build that a runner needs. */
export interface DescribedBuild {
  readonly id: number
  readonly pipeline_id: number
  readonly project_id: number
  readonly name: string
  readonly stage: string
  readonly stage_index: number
  readonly ref: string
  readonly tag: number
  readonly sha: string
  readonly start_when: string
  readonly timeout: number | null
  readonly plan: string
  readonly before_sha: string
  readonly source: PipelineSource
  readonly pipeline_name: string | null
  readonly pipeline_created_at: Date
  /** Null before the build has entered its environment. */
  readonly environment_name: string | null
  readonly environment_slug: string | null
  readonly started_at: Date | null
  readonly ref_protected: number
  readonly storage: string
  readonly project_name: string
  readonly project_path: string
  readonly default_branch: string | null
  readonly visibility_level: number
  readonly namespace_id: number
  readonly namespace_path: string
  readonly user_id: number | null
  readonly user_name: string | null
  readonly user_username: string | null
  readonly user_email: string | null
}

/** A build whose artifacts another build needs when it starts. */
export interface DependencyRow extends ArtifactsRow {
  readonly name: string
  readonly stage: string
  readonly artifacts_size: number
}

export function findDescribedBuild(id: number): Promise<DescribedBuild | undefined> {
  return row<DescribedBuild>(
    `select b.id, b.pipeline_id, b.project_id, b.name, b.stage, b.stage_index, b.ref, b.tag, b.sha, b.start_when, b.timeout, b.plan, b.started_at, b.ref_protected,
       l.before_sha, l.source, l.name as pipeline_name, l.created_at as pipeline_created_at, e.name as environment_name, e.slug as environment_slug, p.storage, p.name as project_name, p.path as project_path, p.default_branch,
       p.visibility_level, n.id as namespace_id, n.path as namespace_path, b.user_id, u.name as user_name, u.username as user_username,
       u.email as user_email
     from builds b join pipelines l on l.id = b.pipeline_id join projects p on p.id = b.project_id
     join namespaces n on n.id = p.namespace_id left join users u on u.id = b.user_id left join environments e on e.id = b.environment_id
     where b.id = ?`,
    [id]
  )
}

/** Returns the latest builds that have artifacts: all of earlier stages, or only those in `names`, which may be in the same stage. */
export async function findDependencies(
  build: DescribedBuild,
  names: readonly string[] | null
): Promise<DependencyRow[]> {
  const found = await rows<DependencyRow>(
    `select b.id, b.name, b.stage, b.artifacts_filename, b.artifacts_size,
       b.artifacts_attempt, b.artifacts_expire_at from builds b
     where b.pipeline_id = ? and b.stage_index <= ? and b.artifacts_filename is not null
       and (b.artifacts_expire_at is null or b.artifacts_expire_at > ?)
       and b.id = (select max(c.id) from builds c where c.pipeline_id = b.pipeline_id and c.name = b.name)
     order by b.stage_index, b.id`,
    [build.pipeline_id, names === null ? build.stage_index - 1 : build.stage_index, new Date()]
  )
  return names === null ? found : found.filter(({ name }) => names.includes(name))
}
