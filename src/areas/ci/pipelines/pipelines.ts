// Creates a pipeline from the CI file of its commit. Later changes of the CI file do not affect its builds.

import { parseConfig } from '../../../ci/config.js'
import { inputsNeeded, planPipeline } from '../../../ci/plan.js'
import { withElsewhere } from '../../../cluster/repository-elsewhere.js'
import { holds } from '../../../cluster/storages.js'
import { TooLarge } from '../../../errors.js'
import { type Commit, readCommit } from '../../../git/history/commits.js'
import { readBlob } from '../../../git/objects/blob.js'
import { CI_FILE_LIMIT } from '../../../git/objects/commit-text.js'
import { findEntry } from '../../../git/objects/tree.js'
import { resolveCommit, ZERO } from '../../../git/refs/refs.js'
import { type ChangeRow, findSettledChange } from '../../code/refs/ref-changes.queries.js'
import type { Listener } from '../../ground/activity/listeners.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { insertBroken, insertPlanned, type NewPipeline } from './insert-pipeline.js'
import { orInOtherJob } from './planning/in-other-job.js'
import { type PlannedFile, type Planning, planFile } from './planning/plan-file.js'

export const CI_FILES = ['.gitstead-ci.yml', '.gitlab-ci.yml']
/** A ref with a longer name gets no pipeline, because no CI file can select it. */
const REF_LIMIT = 255

export const pushPipelines: Listener = {
  name: 'pipelines',
  on: { 'ref.changed': ({ event }) => createPipelineOfRefChange(event.refChangeId, { urlsLater: true }) }
}

/**
 * Creates the pipeline of a pushed branch or tag. It creates none when the commit has no CI file, when the file selects no build,
 * or when this ref change already has a pipeline. With `urlsLater`, another job does it if the file includes URLs.
 */
export async function createPipelineOfRefChange(refChangeId: number, { urlsLater = false } = {}): Promise<void> {
  const change = await findSettledChange(refChangeId)
  if (!change) return
  const repository = repositoryPath({ id: change.project_id, storage: change.storage })
  await orInOtherJob(() => createPipeline(change, repository, urlsLater), change.project_id, { refChangeId })
}

/** The ref of a push, for CI. */
export interface PushedRef {
  readonly ref: string
  readonly old_id: string
  readonly new_id: string
  readonly user_id: number | null
}

interface PlannedPush extends PlannedFile {
  /** The name of the branch or tag. */
  readonly ref: string
  readonly tag: boolean
  readonly commit: Commit
  readonly ciFile: string
}

interface FoundFile {
  readonly ref: string
  readonly tag: boolean
  readonly commit: Commit
  readonly file: { readonly name: string; readonly text: string }
}

/** Plans the pipeline of a pushed branch or tag. Returns null when its commit has no CI file. */
async function planPush(
  repository: string,
  project: Planning['project'],
  pushed: PushedRef,
  urlsLater: boolean
): Promise<PlannedPush | null> {
  const found = await findPushedFile(repository, pushed)
  if (!found) return null
  const { ref, tag, commit, file } = found
  const planned = await planFile(file.text, {
    ...{ repository, project, ref, tag, commit, beforeSha: pushed.old_id, source: 'push', userId: pushed.user_id },
    ...{ honourSkip: true, triggerVariables: [], urlsLater }
  })
  return { ref, tag, commit, ciFile: file.name, ...planned }
}

/** What the CI file of a push shows on its own. `open` means that the rest of the repository is needed. */
export interface SimplePush extends PlannedPush {
  readonly open: boolean
}

/** Plans a push as far as a file of at most `limit` bytes allows on its own. Returns null without a file. */
export async function planSimplePush(
  repository: string,
  projectPath: string,
  pushed: PushedRef,
  limit: number
): Promise<SimplePush | null> {
  const found = await findPushedFile(repository, pushed)
  if (!found || found.file.text.length > limit) return null
  const { ref, tag, commit, file } = found
  const push = { ref, tag, commit, ciFile: file.name, plan: null, errors: [], open: false }
  if (/^include:/m.test(file.text)) return { ...push, open: true }
  const { config, errors } = parseConfig(file.text)
  if (!config) return { ...push, errors }
  if (inputsNeeded(config).variables) return { ...push, open: true }
  const context = { ref, tag, source: 'push', projectPath, commitMessage: commit.message, honourSkip: true } as const
  const plan = planPipeline(config, context)
  const result = plan.kind === 'refused' ? { plan: null, errors: plan.errors } : { plan, errors: [] }
  return { ...push, ...result }
}

async function findPushedFile(repository: string, { ref: fullRef, new_id }: PushedRef): Promise<FoundFile | null> {
  const found = /^refs\/(heads|tags)\/(.+)$/.exec(fullRef)
  const ref = found?.[2]
  if (!ref || ref.length > REF_LIMIT || new_id === ZERO) return null
  const tip = await resolveCommit(repository, new_id)
  const commit = tip && (await readCommit(repository, tip.id))
  const file = commit && (await readCiFile(repository, commit.id))
  return file && { ref, tag: found[1] === 'tags', commit, file }
}

async function createPipeline(change: ChangeRow, repository: string, urlsLater: boolean): Promise<void> {
  if (!change.builds_enabled || change.skip_ci === 1) return
  const project = { ...change, id: change.project_id, name: change.project_name, path: change.project_path }
  const planned = await planPush(repository, project, change, urlsLater)
  if (!planned) return
  const pipeline: NewPipeline = {
    projectId: change.project_id,
    refChangeId: change.id,
    ref: planned.ref,
    tag: planned.tag,
    commit: planned.commit,
    beforeSha: change.old_id,
    source: 'push',
    userId: change.user_id
  }
  if (planned.plan) await insertPlanned(pipeline, planned.plan)
  else await insertBroken(pipeline, planned.errors)
}

/** Returns the name of the CI file of a commit; null without one. */
export async function nameOfCiFile(repository: string, commitId: string): Promise<string | null> {
  for (const name of CI_FILES) if ((await findEntry(repository, commitId, name))?.type === 'blob') return name
  return null
}

/** Does the same for a project, which may be on another machine. Throws Unavailable. */
export async function ciFileOf(project: StoredProject, commit: string): Promise<string | null> {
  if (holds(project.storage)) return nameOfCiFile(repositoryPath(project), commit)
  return withElsewhere(project, async owner => {
    for (const path of CI_FILES) if (await owner.read({ want: 'text', commit, path }, () => undefined)) return path
    return null
  })
}

/** Returns the CI file, or null without one. For a file over 1 MiB, it returns a text that the parser rejects. */
export async function readCiFile(repository: string, commitId: string): Promise<{ name: string; text: string } | null> {
  for (const name of CI_FILES) {
    const entry = await findEntry(repository, commitId, name)
    if (entry?.type !== 'blob') continue
    const content = await readBlob(repository, entry.id, CI_FILE_LIMIT).catch(error => {
      // Other errors, such as too many processes, are temporary: the job is retried.
      if (!(error instanceof TooLarge)) throw error
      return Buffer.alloc(CI_FILE_LIMIT + 1, ' ')
    })
    if (content) return { name, text: content.toString('utf8') }
  }
  return null
}
