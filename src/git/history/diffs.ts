// Returns the changes of single commits, read by long-lived processes.

import { lruOf } from '../../lib/lru.js'
import { atEnd } from '../../lib/shutdown.js'
import { readCommit } from '../objects/objects.js'
import { mostAtOnce } from '../process/limits.js'
import { ProcessPool } from '../process/pool.js'
import { GitFailure, GitLimit, runGit } from '../process/run.js'
import { type DiffKind, type DiffProcess, LargeAnswer, openDiffProcess } from './diff-process.js'
import { diffTrees } from './tree-diff.js'

const poolOf = (kind: DiffKind) =>
  new ProcessPool<DiffProcess>({ lanes: 2, limit: () => mostAtOnce(kind, 8) }, (repository, gone) =>
    openDiffProcess(repository, kind, gone)
  )
const pools: Record<DiffKind, ProcessPool<DiffProcess>> = {
  stats: poolOf('stats'),
  paths: poolOf('paths'),
  patches: poolOf('patches')
}

/**
 * Commits that reached a limit, kept for ten minutes: each question about such a commit ends a process, and the
 * questions behind it are lost.
 */
const tooLarge = lruOf<string, GitLimit | LargeAnswer>(1000, { ttl: 600_000 })

/**
 * Returns the output of diff-tree for a commit compared with its first parent, split at line ends (stats) or NULs
 * (paths). Returns null when no commit has this id. Throws GitFailure when the answer is larger than 16 MiB, and
 * GitLimit when git needs too much memory or time for it.
 */
export async function askDiffs(repository: string, kind: 'stats' | 'paths', id: string): Promise<string[] | null> {
  const commit = await readCommit(repository, id)
  if (!commit) return null
  const answer = await askProcess(repository, kind, [id, ...commit.parentIds.slice(0, 1)])
  // The first token is the commit's own id. For a commit without changes there are no tokens at all.
  const tokens = answer.toString().split(kind === 'paths' ? '\0' : '\n')
  return tokens.filter(token => token !== '').slice(1)
}

/**
 * Returns the changes of a commit compared with another commit, or all its files, in the format that `PatchReader`
 * reads. Both commits must exist. Throws LargeAnswer when the changes take more than 1 MiB, and GitLimit when git needs
 * too much memory or time for them.
 */
export const askPatches = (repository: string, commits: readonly string[]): Promise<Buffer> =>
  askProcess(repository, 'patches', commits)

/**
 * Returns the paths of all files that differ between two commits. Throws GitFailure when they take more than 16 MiB, and
 * GitLimit when git needs too much memory or time for them.
 */
export async function changedPaths(repository: string, from: string, to: string): Promise<string[]> {
  const [before, after] = [await readCommit(repository, from), await readCommit(repository, to)]
  const changes = before && after && (await diffTrees(repository, before.treeId, after.treeId))
  if (changes) return changes.map(({ path }) => path)
  const answer = await askProcess(repository, 'paths', [to, from])
  // The first token is the commit's own id. After it, the letter of a change and its path alternate.
  const tokens = answer.toString().split('\0')
  return tokens.slice(1).filter((token, at) => at % 2 === 1 && token !== '')
}

/** Returns the paths of all files that differ between two trees. Throws GitFailure when they take more than 16 MiB, and GitLimit. */
export async function treePaths(repository: string, before: string, after: string): Promise<string[]> {
  const changes = await diffTrees(repository, before, after)
  if (changes) return changes.map(({ path }) => path)
  const args = ['diff-tree', '-r', '--no-renames', '--name-only', '-z', '--end-of-options', before, after]
  const found = await runGit(args, { repository, maxOutput: 16_777_216 })
  return found.toString().split('\0').slice(0, -1)
}

async function askProcess(repository: string, kind: DiffKind, commits: readonly string[]): Promise<Buffer> {
  const question = commits.join(' ')
  const key = `${repository}\0${kind} ${question}`
  const known = tooLarge.get(key)
  if (known) throw known
  // Something outside may kill both processes of a repository at the same time. When a process dies at each try, this
  // commit is the cause.
  for (let tries = 0; tries < 3; tries++) {
    const process = await pools[kind].of(repository)
    const outcome = await process.ask(question)
    if ('failed' in outcome) {
      const { failed } = outcome
      if (failed instanceof GitLimit || failed instanceof LargeAnswer) tooLarge.set(key, failed)
      throw failed
    }
    if ('answer' in outcome) return outcome.answer
  }
  throw new GitFailure(`git diff-tree ended each time at commit ${commits[0]}`)
}

/** Ends the processes of one repository, or of all repositories, after they have answered all pending questions. */
export async function closeDiffs(repository?: string): Promise<void> {
  await Promise.all(Object.values(pools).map(pool => pool.close(repository)))
}

atEnd(closeDiffs)
