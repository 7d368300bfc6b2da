// The content of a version of a merge request: its commits, and their changes of files. Both are read from the
// repository of the target, which keeps them whatever happens to the source.
import { type CommitRange, commitsBetween } from '../../../../git/history/commits.js'
import { type Patch, patchesBetween } from '../../../../git/history/patches.js'
import { type Commit, readCommit } from '../../../../git/objects/objects.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import type { VersionRow } from './versions.queries.js'

export interface Changes {
  /** Newest first. */
  readonly commits: readonly Commit[]
  readonly patches: readonly Patch[]
  /** Whether something was left out. */
  readonly isCut: boolean
}

/** The commits between which a merge request is read. */
export type ComparedCommits = Pick<VersionRow, 'head_sha' | 'base_sha' | 'start_sha' | 'state'>

/** The maximum number of commits of a merge request that are shown, and of characters of all their messages. */
export const MOST_COMMITS = 1000
const MOST_MESSAGES = 4 * 1024 * 1024
const AT_ONCE = 50

export interface CommitList {
  readonly commits: readonly Commit[]
  readonly isCut: boolean
}

/** Returns the commits of a version that the target branch did not have, newest first. Empty without a version. */
export async function readCommits(project: ProjectRow, version: ComparedCommits | undefined): Promise<CommitList> {
  if (!version) return { commits: [], isCut: false }
  const repository = repositoryPath(project)
  const range = await rangeOf(repository, version)
  if (!range) return { commits: [], isCut: true }
  const { ids, total } = range
  const commits: Commit[] = []
  let length = 0
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = await Promise.all(ids.slice(at, at + AT_ONCE).map(id => readCommit(repository, id)))
    for (const commit of some) {
      length += commit?.message.length ?? 0
      if (length > MOST_MESSAGES) return { commits, isCut: true }
      if (commit) commits.push(commit)
    }
  }
  return { commits, isCut: commits.length < total }
}

/** Returns the number of commits of a version that the target branch did not have. */
export async function countCommits(project: ProjectRow, version: ComparedCommits | undefined): Promise<number> {
  return (version && (await rangeOf(repositoryPath(project), version)))?.total ?? 0
}

async function rangeOf(repository: string, version: ComparedCommits): Promise<CommitRange | undefined> {
  const pair = await pairOf(repository, version.head_sha, [version.start_sha, version.base_sha])
  return pair && commitsBetween(repository, pair.from, pair.to, MOST_COMMITS)
}

/**
 * Returns the head, and the first of the others that git has; undefined without one of both. A target branch may have
 * been rewritten, and its old commits pruned; and a merge request that came from another forge can name commits that
 * forge did not give.
 */
async function pairOf(
  repository: string,
  head: string,
  others: readonly (string | null)[]
): Promise<{ from: string; to: string } | undefined> {
  if (!(await readCommit(repository, head))) return undefined
  for (const from of others) if (from !== null && (await readCommit(repository, from))) return { from, to: head }
  return undefined
}

/** Returns the differences of files between the common commit of the branches and the head. Empty without a version. */
export async function readPatches(
  project: ProjectRow,
  version: ComparedCommits | undefined
): Promise<Omit<Changes, 'commits'>> {
  if (!version || version.state === 'empty') return { patches: [], isCut: false }
  const { start_sha: start, base_sha: base, head_sha: head } = version
  if (base === null && start === null) return { patches: [], isCut: false }
  const repository = repositoryPath(project)
  const pair = await pairOf(repository, head, [base, start])
  if (!pair) return { patches: [], isCut: true }
  const { patches, isCut } = await patchesBetween(repository, pair.from, pair.to)
  return { patches, isCut: isCut || patches.some(({ isTooLarge }) => isTooLarge) }
}

/** Reads both the commits and the differences. */
export async function readChanges(project: ProjectRow, version: ComparedCommits | undefined): Promise<Changes> {
  const [list, changed] = await Promise.all([readCommits(project, version), readPatches(project, version)])
  return { commits: list.commits, patches: changed.patches, isCut: list.isCut || changed.isCut }
}
