// Compares two commits ("Compare result").
import { NotFound } from '../../../errors.js'
import { commitsBetween } from '../../../git/history/commits.js'
import { mergeBase } from '../../../git/history/merge-base.js'
import { type Patch, patchesBetween } from '../../../git/history/patches.js'
import type { Commit } from '../../../git/objects/objects.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { commitOf } from '../repository/contents.js'
import { readCommits } from './commit-list.js'

export interface Comparison {
  /** The commits that `to` has and `from` does not, oldest first. */
  readonly commits: readonly Commit[]
  readonly patches: readonly Patch[]
  /** Whether anything is omitted. */
  readonly isCut: boolean
  readonly isSame: boolean
}

/** The maximum number of commits in a comparison; the newest ones are shown. */
const COMPARE_COMMITS = 1000
/** Characters of all their messages together. */
const COMPARE_MESSAGES = 4 * 1024 * 1024
const AT_ONCE = 50

export interface ComparedIds {
  readonly from: string
  readonly to: string
}

/** Finds the two commits to compare. Throws NotFound. */
export async function findCompared(project: ProjectRow, query: ComparedIds): Promise<ComparedIds> {
  const repository = repositoryPath(project)
  const [from, to] = await Promise.all([query.from, query.to].map(name => commitOf(project, repository, name)))
  // Not specified: a comparison with a commit that does not exist.
  if (!from || !to) throw new NotFound('Commit')
  return { from: from.id, to: to.id }
}

/** Compares existing commits. The files are compared with the common history, as `git diff from...to` does. */
export async function compare(project: ProjectRow, { from, to }: ComparedIds): Promise<Comparison> {
  const repository = repositoryPath(project)
  if (from === to) return { commits: [], patches: [], isCut: false, isSame: true }
  const { ids, total } = await commitsBetween(repository, from, to, COMPARE_COMMITS)
  const newestFirst = await readWithin(repository, ids)
  const base = isLineFrom(from, newestFirst, total) ? from : await mergeBase(repository, from, to)
  // Not specified: histories without a common commit. Their files are compared directly.
  const changes = await patchesBetween(repository, base ?? from, to)
  const isCut = newestFirst.length < total || changes.isCut || changes.patches.some(({ isTooLarge }) => isTooLarge)
  return { commits: newestFirst.reverse(), patches: changes.patches, isCut, isSame: false }
}

/** Anybody may push commits with long messages: messages that exceed the limit are omitted. */
async function readWithin(repository: string, ids: readonly string[]): Promise<Commit[]> {
  const commits: Commit[] = []
  let length = 0
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    for (const commit of await readCommits(repository, ids.slice(at, at + AT_ONCE))) {
      length += commit.message.length
      if (length > COMPARE_MESSAGES) return commits
      commits.push(commit)
    }
  }
  return commits
}

/** Returns whether the commits form a line that begins at `from`: then git need not look for the common history. */
function isLineFrom(from: string, commits: readonly Commit[], total: number): boolean {
  const isLine = commits.length === total && commits.every(({ parentIds }) => parentIds.length === 1)
  return isLine && commits.at(-1)?.parentIds[0] === from
}
