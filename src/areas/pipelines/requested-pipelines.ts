// Pipelines that somebody asks for, not a push: by the API, or by a trigger.
import type { Origin } from '../../access/actor.js'
import { parseConfig } from '../../ci/config.js'
import { type Plan, planPipeline } from '../../ci/plan.js'
import { Forbidden, Invalid, NotFound } from '../../errors.js'
import { type Commit, readCommit } from '../../git/commits.js'
import { refValue, resolveCommit, ZERO } from '../../git/refs.js'
import { audit } from '../audit/audit.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { repositoryPath } from '../projects/repositories.js'
import { insertPlanned, type NewPipeline } from './insert-pipeline.js'
import { CI_FILES, readCiFile } from './pipelines.js'

export interface PlannedRequest {
  readonly pipeline: NewPipeline
  /** Null when the CI file has errors. It has builds: a skip marker in the message of the commit does not count. */
  readonly plan: Plan | null
  readonly errors: readonly string[]
}

/** Plans the pipeline of a branch or tag. Throws Invalid when there is nothing to run. */
export async function planRequest(
  project: ProjectRow,
  ref: string,
  { source, userId }: { readonly source: 'api' | 'trigger'; readonly userId: number | null }
): Promise<PlannedRequest> {
  const repository = repositoryPath(project)
  const { tag, commit } = await findCommit(repository, ref)
  const file = await readCiFile(repository, commit.id)
  if (!file) throw new Invalid('base', `Missing ${CI_FILES[0]} file`)
  const { config, errors } = parseConfig(file.text)
  const pipeline = { projectId: project.id, refChangeId: null, ref, tag, commit, beforeSha: ZERO, source, userId }
  if (!config) return { pipeline, plan: null, errors }
  const projectPath = `${project.namespace_path}/${project.path}`
  const context = { ref, tag, source, projectPath, commitMessage: commit.message, honourSkip: false }
  const plan = planPipeline(config, context)
  if (plan.kind === 'empty') throw new Invalid('base', 'No builds for this pipeline.')
  return { pipeline, plan, errors: [] }
}

/** Creates a pipeline of a branch or tag for a user, and returns its id. Throws Invalid, and then keeps nothing. */
export async function createPipelineOf(project: ProjectRow, ref: string, origin: Origin): Promise<number> {
  const asked = { source: 'api', userId: origin.user?.id ?? null } as const
  const { pipeline, plan, errors } = await planRequest(project, ref, asked)
  if (!plan) throw new Invalid('base', errors.join('\n'))
  const id = await insertPlanned(pipeline, plan)
  if (id === null) throw new NotFound('Project')
  return id
}

/**
 * Creates a pipeline for a command, of the default branch unless `ref` names another, and returns its id. Throws Invalid, and
 * Forbidden when the project takes no builds.
 */
export async function runPipelineOf(project: ProjectRow, ref: string | undefined, origin: Origin): Promise<number> {
  const name = `${project.namespace_path}/${project.path}`
  if (!project.builds_enabled || project.archived) throw new Forbidden(`${name} takes no builds`)
  const wanted = ref ?? project.default_branch
  if (wanted === null) throw new Invalid('ref', 'is missing: the project has no default branch')
  const id = await createPipelineOf(project, wanted, origin)
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
