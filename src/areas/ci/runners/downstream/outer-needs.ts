// Artifacts that a build needs from other pipelines: of another project, with the rights of the user of the build, or
// of a pipeline that led to its own.
import { type Actor, actorOf, nobody } from '../../../../access/actor.js'
import { canSee, may } from '../../../../access/authorize.js'
import type { CiOuterNeed } from '../../../../ci/config-types.js'
import type { PlannedBuild } from '../../../../ci/plan.js'
import { row } from '../../../../db/connect/sql.js'
import { Failure } from '../../../../errors.js'
import { findSudoUser } from '../../../people/credentials/credentials.js'
import { findProject } from '../../../projects/projects/projects.queries.js'
import { hasArtifacts } from '../../builds/artifacts.js'
import { findSuccessfulBuild } from '../../builds/builds.queries.js'
import { mayDownload } from '../../builds/files/artifact-access.js'
import type { DependencyRow, DescribedBuild } from '../job-description.queries.js'

/** The required artifacts do not exist, or the build may not read them. The text does not reveal which. */
export class MissingDependency extends Failure {}

type Consumer = Pick<DescribedBuild, 'project_id' | 'pipeline_id' | 'user_id'>

/** Finds the builds of other pipelines whose artifacts a build needs. Throws MissingDependency. */
export async function findOuter(build: Consumer, needs: readonly CiOuterNeed[] = []): Promise<DependencyRow[]> {
  if (needs.length === 0) return []
  const actor = await actorFor(build)
  const found: DependencyRow[] = []
  for (const need of needs) {
    const producer =
      need.project === null
        ? await ofPipeline(build, need)
        : await ofProject(build, { ...need, project: need.project }, actor)
    if (producer && hasArtifacts(producer)) found.push(producer)
    else if (!need.optional) throw new MissingDependency(textFor(need))
  }
  return found
}

/** Returns whether a running build may read the artifacts of a build of another pipeline. */
export async function needsOuter(build: Consumer & { readonly plan: string }, producerId: number): Promise<boolean> {
  const { options } = JSON.parse(build.plan) as Partial<Pick<PlannedBuild, 'options'>>
  const needed = await findOuter(
    build,
    (options?.outerNeeds ?? []).map(need => ({ ...need, optional: true }))
  )
  return needed.some(({ id }) => id === producerId)
}

/** A pipeline that a trigger started has no user: it reads its own project and what is public. */
export async function actorFor({ user_id: userId }: Pick<Consumer, 'user_id'>): Promise<Actor> {
  const user = userId === null ? null : await findSudoUser(String(userId))
  return user ? actorOf(user, 'private') : nobody
}

async function ofProject(
  build: Consumer,
  { project: path, ref, job }: CiOuterNeed & { readonly project: string },
  actor: Actor
): Promise<DependencyRow | undefined> {
  const project = await findProject(path, actor)
  if (!project) return undefined
  const isOwn = project.id === build.project_id
  if (!isOwn && !(canSee(project, actor) && may(actor, 'build.read', project))) return undefined
  const found = await findSuccessfulBuild(project.id, ref ?? '', job)
  if (!found || (!isOwn && !(await mayDownload(project, found.id, actor)))) return undefined
  return { ...found, artifacts_size: found.artifacts_size ?? 0 }
}

/** Returns the latest build with the name. Child pipelines belong to the project of their parent. */
function ofPipeline(build: Consumer, { pipeline, job }: CiOuterNeed): Promise<DependencyRow | undefined> {
  const id = /^[1-9]\d{0,9}$/.test(pipeline ?? '') ? Number(pipeline) : 0
  return row<DependencyRow>(
    `select b.id, b.name, b.stage, b.artifacts_filename, b.artifacts_size, b.artifacts_attempt, b.artifacts_expire_at, b.status
     from builds b join pipelines l on l.id = b.pipeline_id
       left join downstream_pipelines mine on mine.pipeline_id = ? left join downstream_pipelines d on d.pipeline_id = l.id
     where l.id = ? and l.project_id = ? and b.name = ? and b.status = 'success'
       and coalesce(d.root_pipeline_id, l.id) = coalesce(mine.root_pipeline_id, ?)
       and b.id = (select max(c.id) from builds c where c.pipeline_id = b.pipeline_id and c.name = b.name)`,
    [build.pipeline_id, id, build.project_id, job, build.pipeline_id]
  )
}

const textFor = ({ job, project, pipeline }: CiOuterNeed) =>
  `the artifacts of ${job} of ${project ?? `pipeline ${pipeline}`} are missing, or the user of the build may not read them`
