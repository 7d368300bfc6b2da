// Pipelines that are requested without a push: by the API, a trigger, a schedule or a command.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden, Invalid, NotFound } from '../../../errors.js'
import { type Commit, readCommit } from '../../../git/history/commits.js'
import { refValue, resolveCommit, ZERO } from '../../../git/refs/refs.js'
import { audit } from '../../ground/audit/audit.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { checkVariables, type GivenVariables, insertRequest, listed, seal } from './given-variables.js'
import { insertPlanned, type NewPipeline } from './insert-pipeline.js'
import { CI_FILES, readCiFile } from './pipelines.js'
import { type PlannedFile, planFile } from './planning/plan-file.js'

/** It has builds, unless it has errors: a skip marker in the commit message is ignored. */
export interface PlannedRequest extends PlannedFile {
  readonly pipeline: NewPipeline
}

interface RequestOptions {
  readonly source: 'api' | 'trigger' | 'schedule' | 'pipeline'
  readonly userId: number | null
  /** Rules of the CI file can also use these. */
  readonly variables?: GivenVariables | null
  readonly urlsLater?: boolean
}

/** Plans the pipeline of a branch or tag. Throws Invalid when there is nothing to run, and UrlsLater. */
export async function planRequest(
  project: ProjectRow,
  ref: string,
  { source, userId, variables = null, urlsLater = false }: RequestOptions
): Promise<PlannedRequest> {
  const repository = repositoryPath(project)
  const { tag, commit } = await findCommit(repository, ref)
  const file = await readCiFile(repository, commit.id)
  if (!file) throw new Invalid('base', `Missing ${CI_FILES[0]} file`)
  const pipeline = { projectId: project.id, refChangeId: null, ref, tag, commit, beforeSha: ZERO, source, userId }
  const planning = {
    ...pipeline,
    repository,
    project,
    honourSkip: false,
    triggerVariables: listed(variables),
    urlsLater
  }
  const { plan, errors } = await planFile(file.text, planning)
  if (!plan) return { pipeline, plan, errors }
  if (plan.kind === 'empty') throw new Invalid('base', 'No builds for this pipeline.')
  return { pipeline, plan, errors: [] }
}

/** Creates a pipeline of a branch or tag for a user, and returns its id. Throws Invalid, and then stores nothing. */
export async function createPipelineOf(
  project: ProjectRow,
  ref: string,
  origin: Origin,
  variables: GivenVariables | null = null
): Promise<number> {
  const options = { source: 'api', userId: origin.user?.id ?? null, variables } as const
  const { pipeline, plan, errors } = await planRequest(project, ref, options)
  if (!plan) throw new Invalid('base', errors.join('\n'))
  return transact(async () => {
    const id = await insertPlanned(pipeline, plan)
    if (id === null) throw new NotFound('Project')
    if (variables) await insertRequest(id, { variablesBox: seal(variables) })
    return id
  })
}

/**
 * Creates a pipeline for a command, of the default branch unless `ref` names another, and returns its id. Throws
 * Invalid, BadRequest for wrong variables, and Forbidden when the project accepts no builds.
 */
export async function runPipelineOf(
  project: ProjectRow,
  { ref, variables }: { readonly ref?: string; readonly variables?: object },
  origin: Origin
): Promise<number> {
  const name = `${project.namespace_path}/${project.path}`
  if (!project.builds_enabled || project.archived) throw new Forbidden(`${name} accepts no builds`)
  const wanted = ref ?? project.default_branch
  if (wanted === null) throw new Invalid('ref', 'is missing: the project has no default branch')
  const id = await createPipelineOf(project, wanted, origin, checkVariables(variables))
  await audit(origin, {
    action: 'pipeline.run',
    target: { type: 'project', id: project.id, name },
    changes: { ref: { after: wanted }, pipeline: { after: id } }
  })
  return id
}

/** Finds the commit of a branch, or of a tag when no branch has the name. Throws Invalid. */
async function findCommit(repository: string, name: string): Promise<{ tag: boolean; commit: Commit }> {
  for (const kind of ['heads', 'tags']) {
    const ref = `refs/${kind}/${name}`
    if (!(await refValue(repository, ref))) continue
    const tip = await resolveCommit(repository, ref)
    const commit = tip && (await readCommit(repository, tip.id))
    // A tag may point to a file or a folder.
    if (!commit) throw new Invalid('base', 'Commit not found')
    return { tag: kind === 'tags', commit }
  }
  throw new Invalid('base', 'Reference not found')
}
