// What a merge request between two branches would contain, before somebody opens it. Nothing is written: the commits of a fork stay
// where they are.
import { holds } from '../../../cluster/storages.js'
import { mergeBase } from '../../../git/history/merge-base.js'
import { type Commit, readCommit } from '../../../git/objects/objects.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { checkPair, missing, refuseSecond } from './rules.js'
import { readHeads } from './versions/branches.js'
import { type Changes, readChanges } from './versions/changes.js'

export interface Preview extends Changes {
  /** Why the commits are not shown; null when they are. */
  readonly hidden: 'empty' | 'apart' | null
  /** The repository that has the commits. */
  readonly repository?: string
}

export const NO_PREVIEW: Preview = { commits: [], patches: [], isCut: false, hidden: 'apart' }

/** The branches of a merge request that does not exist yet. */
export interface Proposal {
  readonly source: ProjectRow
  readonly sourceBranch: string
  readonly target: ProjectRow
  readonly targetBranch: string
}

/** Compares two branches as a merge request does. Throws what its creation throws for them: Invalid, Conflicts or UnprocessableList. */
export async function previewMergeRequest({ source, sourceBranch, target, targetBranch }: Proposal): Promise<Preview> {
  const pair = {
    source: { projectId: source.id, branch: sourceBranch },
    target: { projectId: target.id, branch: targetBranch }
  }
  await checkPair(pair)
  const { head, start } = await readHeads(
    { source, target },
    { source_branch: sourceBranch, target_branch: targetBranch }
  )
  if (head === null || start === null) throw missing({ head, start })
  await refuseSecond(pair)
  const project = await withBoth([target, source], [head, start])
  if (!project) return NO_PREVIEW
  const repository = repositoryPath(project)
  const base = await mergeBase(repository, start, head)
  const changes = await readChanges(project, { head_sha: head, start_sha: start, base_sha: base, state: 'collected' })
  return { ...changes, repository, hidden: changes.commits.length === 0 ? 'empty' : null }
}

/**
 * Returns the first project whose repository has both commits: a fork may not have the newest commit of its source. Throws NotHere when
 * only that of the fork may have them, and it belongs to another machine.
 */
async function withBoth(projects: readonly ProjectRow[], ids: readonly string[]): Promise<ProjectRow | undefined> {
  for (const [at, project] of projects.entries()) {
    // The target rarely has the commits of a fork: the machine of the fork answers.
    if (at < projects.length - 1 && !holds(project.storage)) continue
    const found = await Promise.all(ids.map(id => readCommit(repositoryPath(project), id)))
    if (found.every(commit => commit !== null)) return project
  }
  return undefined
}

const LONGEST_TITLE = 255

/** Returns what the form suggests: the message of the only commit, or the name of the branch in words. */
export function suggestedTexts(branch: string, commits: readonly Commit[]): { title: string; description: string } {
  const [only, second] = commits
  if (only && !second) {
    const [title = '', ...rest] = only.message.trim().split('\n')
    if (title.trim() !== '') return { title: title.slice(0, LONGEST_TITLE), description: rest.join('\n').trim() }
  }
  const words = branch.split('/').at(-1)?.replaceAll(/[-_]+/g, ' ').trim() || branch
  return { title: (words[0] ?? '').toUpperCase() + words.slice(1, LONGEST_TITLE), description: '' }
}
