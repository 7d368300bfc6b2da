// Creates the pipeline that a build starts: of another project, on behalf of the user of the build, or a child pipeline
// of the same commit.
import type { Actor } from '../../../../access/actor.js'
import { canSee, may } from '../../../../access/authorize.js'
import type { CiTrigger, CiVariable } from '../../../../ci/config-types.js'
import type { PlannedBuild } from '../../../../ci/plan.js'
import { buildVariables, expand } from '../../../../ci/variables.js'
import { lockRow } from '../../../../db/connect/lock-row.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Forbidden, Invalid, NotFound } from '../../../../errors.js'
import { readCommit } from '../../../../git/history/commits.js'
import { findProject, type ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { checkVariables, givenVariables, insertRequest, listed, seal } from '../../pipelines/given-variables.js'
import { insertBroken, insertPlanned } from '../../pipelines/insert-pipeline.js'
import { planFile } from '../../pipelines/planning/plan-file.js'
import { type PlannedRequest, planRequest } from '../../pipelines/requested-pipelines.js'
import type { DescribedBuild } from '../job-description.queries.js'
import { inputOf } from '../job-variables.js'
import { actorFor } from './outer-needs.js'

/** The maximum length of a chain of pipelines, and the maximum number of pipelines that the first one may lead to. */
const DEEPEST = 5
const MOST_OF_ROOT = 200

export interface Launched {
  readonly id: number
  readonly path: string
}

/**
 * Creates the pipeline of a build, and records that the build started it. Throws a Failure when none can be created. A
 * broken CI file leaves a failed pipeline. Fails with a duplicate key when the build has already started one.
 */
export async function launch(build: DescribedBuild, urlsLater = false): Promise<Launched> {
  const { trigger, variables, options } = JSON.parse(build.plan) as Pick<
    PlannedBuild,
    'trigger' | 'variables' | 'options'
  >
  if (!trigger) throw new Invalid('trigger', 'is missing')
  const place = await positionOf(build)
  const known = await variablesOf(build, variables, options.dependencies)
  const passedOn = checkVariables(Object.fromEntries(await forwarded(build, trigger, variables, known)))
  const actor = await actorFor(build)
  const { planned, project } =
    trigger.project === null
      ? await planChild(build, trigger, { actor, passedOn, urlsLater })
      : await planOther(build, { ...trigger, project: trigger.project }, { actor, passedOn, known, urlsLater })
  const { pipeline, plan, errors } = planned
  const id = await transact(async () => {
    await requireRunning(build)
    const made = plan ? await insertPlanned(pipeline, plan) : await insertBroken(pipeline, errors)
    if (made === null) throw new Invalid('trigger', 'the project was deleted, or no job is left for the pipeline')
    const box = seal(passedOn)
    if (box) await insertRequest(made, { variablesBox: box })
    await execute(
      `insert into downstream_pipelines (build_id, upstream_pipeline_id, pipeline_id, root_pipeline_id, depth, is_child,
         awaited, created_at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        build.id,
        build.pipeline_id,
        made,
        place.root,
        place.depth,
        trigger.project === null,
        trigger.awaited,
        new Date()
      ]
    )
    return made
  })
  if (!plan)
    throw new Invalid('trigger', `the CI file of pipeline ${id} has errors:\n${errors.slice(0, 10).join('\n')}`)
  return { id, path: `${project.namespace_path}/${project.path}` }
}

/** Returns the position of the new pipeline in the chain. Throws Invalid beyond a limit. */
async function positionOf({ pipeline_id: upstream }: DescribedBuild): Promise<{ root: number; depth: number }> {
  const above = await row<{ root: number; depth: number }>(
    'select root_pipeline_id as root, depth from downstream_pipelines where pipeline_id = ?',
    [upstream]
  )
  const place = { root: above?.root ?? upstream, depth: (above?.depth ?? 0) + 1 }
  if (place.depth > DEEPEST) {
    throw new Invalid('trigger', `more than ${DEEPEST} pipelines would have started each other: make the chain shorter`)
  }
  const others = await row<{ total: number }>(
    'select count(*) as total from downstream_pipelines where root_pipeline_id = ?',
    [place.root]
  )
  if ((others?.total ?? 0) < MOST_OF_ROOT) return place
  throw new Invalid('trigger', `pipeline ${place.root} has already led to ${MOST_OF_ROOT} pipelines: start fewer`)
}

/**
 * A cancel of the upstream pipeline comes either before, and then nothing is started, or after, and then it finds the
 * started pipeline. Throws Invalid.
 */
async function requireRunning({ id, pipeline_id: pipelineId }: DescribedBuild): Promise<void> {
  await lockRow('pipelines', pipelineId)
  const running = await row("select id from builds where id = ? and status = 'running'", [id])
  if (!running) throw new Invalid('trigger', 'the build was canceled')
}

/** Returns the variables that texts of the job may contain, without tokens. */
async function variablesOf(
  build: DescribedBuild,
  configVariables: readonly CiVariable[],
  dependencies: readonly string[] | null
): Promise<CiVariable[]> {
  const sources = { token: '', runner: null, configVariables, environment: null, parallel: null, dependencies }
  return buildVariables(await inputOf(build, sources, null))
}

/** Returns the variables for the new pipeline. Variables of the job override those that this pipeline received. */
async function forwarded(
  { pipeline_id: id }: DescribedBuild,
  { forwardsOwn, forwardsGiven }: CiTrigger,
  own: readonly CiVariable[],
  known: readonly CiVariable[]
): Promise<(readonly [string, string])[]> {
  const passedOn = forwardsGiven ? await givenVariables(id) : []
  return [
    ...passedOn.map(({ key, value }) => [key, value] as const),
    ...(forwardsOwn ? own.map(({ key, value, raw }) => [key, raw ? value : expand(value, known)] as const) : [])
  ]
}

interface Starting {
  readonly actor: Actor
  readonly passedOn: ReturnType<typeof checkVariables>
  readonly urlsLater: boolean
}

/** Throws NotFound and Forbidden: a user who may not see a project learns nothing about it. */
async function planOther(
  build: DescribedBuild,
  { project: written, branch }: { readonly project: string; readonly branch: string | null },
  { actor, passedOn, known, urlsLater }: Starting & { readonly known: readonly CiVariable[] }
): Promise<{ planned: PlannedRequest; project: ProjectRow }> {
  const project = await findProject(expand(written, known), actor)
  if (!project || !canSee(project, actor)) throw new NotFound('Project')
  if (!project.builds_enabled || project.archived) throw new Forbidden('The project accepts no builds')
  if (!may(actor, 'pipeline.write', project)) throw new Forbidden('The user of the build may not start pipelines there')
  const ref = branch === null ? project.default_branch : expand(branch, known)
  if (ref === null) throw new Invalid('trigger', 'the project has no default branch')
  const planned = await planRequest(project, ref, {
    source: 'pipeline',
    userId: build.user_id,
    variables: passedOn,
    urlsLater
  })
  return { planned, project }
}

async function planChild(
  build: DescribedBuild,
  { include }: CiTrigger,
  { actor, passedOn, urlsLater }: Starting
): Promise<{ planned: PlannedRequest; project: ProjectRow }> {
  const project = await findProject(build.project_id, actor)
  if (!project?.builds_enabled || project.archived) throw new Forbidden('The project accepts no builds')
  const repository = repositoryPath(project)
  const commit = await readCommit(repository, build.sha)
  if (!commit) throw new NotFound('Commit')
  const { ref, before_sha: beforeSha, user_id: userId } = build
  const pipeline = {
    ...{ projectId: project.id, refChangeId: null, ref, tag: build.tag === 1, commit, beforeSha, userId },
    source: 'parent_pipeline' as const
  }
  const planning = {
    ...pipeline,
    repository,
    project,
    honourSkip: false,
    triggerVariables: listed(passedOn),
    urlsLater
  }
  // JSON is YAML.
  const { plan, errors } = await planFile(JSON.stringify({ include }), planning)
  if (plan?.kind === 'empty') throw new Invalid('trigger', 'no job is left for the pipeline')
  return { planned: plan ? { pipeline, plan, errors: [] } : { pipeline, plan, errors }, project }
}
