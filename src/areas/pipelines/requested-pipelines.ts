// Pipelines that somebody asks for, not a push: by the API, a trigger, a schedule or a command.
import type { Origin } from '../../access/actor.js'
import { transact } from '../../db/transact.js'
import { Forbidden, Invalid, NotFound } from '../../errors.js'
import { type Commit, readCommit } from '../../git/commits.js'
import { refValue, resolveCommit, ZERO } from '../../git/refs.js'
import { audit } from '../audit/audit.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { repositoryPath } from '../projects/repositories.js'
import { checkVariables, type GivenVariables, insertRequest, listed, seal } from './given-variables.js'
import { insertPlanned, type NewPipeline } from './insert-pipeline.js'
import { CI_FILES, readCiFile } from './pipelines.js'
import { type PlannedFile, planFile } from './planning/plan-file.js'

/** It has builds, unless it has errors: a skip marker in the message of the commit does not count. */
export interface PlannedRequest extends PlannedFile {
  readonly pipeline: NewPipeline
}

interface Asked {
  readonly source: 'api' | 'trigger' | 'schedule' | 'pipeline'
  readonly userId: number | null
  /** Rules of the CI file look at them, too. */
  readonly variables?: GivenVariables | null
  readonly urlsLater?: boolean
}

/** Plans the pipeline of a branch or tag. Throws Invalid when there is nothing to run, and UrlsLater. */
export async function planRequest(
  project: ProjectRow,
  ref: string,
  { source, userId, variables = null, urlsLater = false }: Asked
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

/** Creates a pipeline of a branch or tag for a user, and returns its id. Throws Invalid, and then keeps nothing. */
export async function createPipelineOf(
  project: ProjectRow,
  ref: string,
  origin: Origin,
  variables: GivenVariables | null = null
): Promise<number> {
  const asked = { source: 'api', userId: origin.user?.id ?? null, variables } as const
  const { pipeline, plan, errors } = await planRequest(project, ref, asked)
  if (!plan) throw new Invalid('base', errors.join('\n'))
  return transact(async () => {
    const id = await insertPlanned(pipeline, plan)
    if (id === null) throw new NotFound('Project')
    if (variables) await insertRequest(id, { variablesBox: seal(variables) })
    return id
  })
}

/**
 * Creates a pipeline for a command, of the default branch unless `ref` names another, and returns its id. Throws Invalid,
 * BadRequest for wrong variables, and Forbidden when the project takes no builds.
 */
export async function runPipelineOf(
  project: ProjectRow,
  { ref, variables }: { readonly ref?: string; readonly variables?: object },
  origin: Origin
): Promise<number> {
  const name = `${project.namespace_path}/${project.path}`
  if (!project.builds_enabled || project.archived) throw new Forbidden(`${name} takes no builds`)
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
    // A tag may name a file or a folder.
    if (!commit) throw new Invalid('base', 'Commit not found')
    return { tag: kind === 'tags', commit }
  }
  throw new Invalid('base', 'Reference not found')
}
