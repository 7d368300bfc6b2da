// Creates a pipeline from the CI file of its commit. Later changes of the CI file do not affect its builds.

import { parseConfig } from '../../ci/config.js'
import { type Plan, planPipeline } from '../../ci/plan.js'
import { TooLarge } from '../../errors.js'
import { readBlob } from '../../git/blob.js'
import { type Commit, readCommit } from '../../git/commits.js'
import { resolveCommit, ZERO } from '../../git/refs.js'
import { findEntry } from '../../git/tree.js'
import type { Listener } from '../activity/listeners.js'
import { repositoryPath } from '../projects/repositories.js'
import { type ChangeRow, findSettledChange } from '../refs/ref-changes.queries.js'
import { insertBroken, insertPlanned, type NewPipeline } from './insert-pipeline.js'

export const CI_FILES = ['.gitstead-ci.yml', '.gitlab-ci.yml']
const CI_FILE_LIMIT = 1_048_576
/** A ref with a longer name gets no pipeline, because no CI file can select it. */
const REF_LIMIT = 255

export const pushPipelines: Listener = {
  name: 'pipelines',
  on: { 'ref.changed': ({ happening }) => createPipelineOfRefChange(happening.refChangeId) }
}

/**
 * Creates the pipeline of a pushed branch or tag. It creates none when the commit has no CI file, when the file selects
 * no build, or when this ref change has a pipeline already.
 */
export async function createPipelineOfRefChange(refChangeId: number): Promise<void> {
  const change = await findSettledChange(refChangeId)
  if (change) await createPipeline(change, repositoryPath({ id: change.project_id, storage: change.storage }))
}

/** What a push means for CI. */
export interface PushedRef {
  readonly ref: string
  readonly new_id: string
  /** NAMESPACE/PROJECT */
  readonly projectPath: string
}

export interface PlannedPush {
  /** The name of the branch or tag. */
  readonly ref: string
  readonly tag: boolean
  readonly commit: Commit
  readonly ciFile: string
  /** Null when the CI file has errors. */
  readonly plan: Plan | null
  readonly errors: readonly string[]
}

/** Plans the pipeline of a pushed branch or tag. Returns null when its commit has no CI file, or one over `limit` bytes. */
export async function planPush(
  repository: string,
  { ref: fullRef, new_id, projectPath }: PushedRef,
  limit = Number.POSITIVE_INFINITY
): Promise<PlannedPush | null> {
  const found = /^refs\/(heads|tags)\/(.+)$/.exec(fullRef)
  const ref = found?.[2]
  if (!ref || ref.length > REF_LIMIT || new_id === ZERO) return null
  const tip = await resolveCommit(repository, new_id)
  const commit = tip && (await readCommit(repository, tip.id))
  const file = commit && (await readCiFile(repository, commit.id))
  if (!file || file.text.length > limit) return null
  const tag = found[1] === 'tags'
  const { config, errors } = parseConfig(file.text)
  const context = { ref, tag, source: 'push', projectPath, commitMessage: commit.message, honourSkip: true } as const
  const plan = config ? planPipeline(config, context) : null
  return { ref, tag, commit, ciFile: file.name, plan, errors: config ? [] : errors }
}

async function createPipeline(change: ChangeRow, repository: string): Promise<void> {
  if (!change.builds_enabled) return
  const projectPath = `${change.namespace_path}/${change.project_path}`
  const planned = await planPush(repository, { ref: change.ref, new_id: change.new_id, projectPath })
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

/** Returns the CI file, or null without one. Over 1 MiB, it returns a text that the parser rejects. */
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
