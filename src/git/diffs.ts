// Answers questions about the changes of single commits, by long-lived processes.

import { LRUCache } from 'lru-cache'
import { atEnd } from '../lib/at-end.js'
import { type DiffKind, type DiffProcess, openDiffProcess } from './diff-process.js'
import { mostAtOnce } from './limits.js'
import { readCommit } from './objects.js'
import { ProcessPool } from './process-pool.js'
import { GitFailure, GitLimit } from './run.js'

const poolOf = (kind: DiffKind) =>
  new ProcessPool<DiffProcess>({ lanes: 2, limit: () => mostAtOnce(kind, 8) }, (repository, gone) =>
    openDiffProcess(repository, kind, gone)
  )
const pools: Record<DiffKind, ProcessPool<DiffProcess>> = { stats: poolOf('stats'), paths: poolOf('paths') }

/**
 * Commits that reached a limit, for ten minutes: each question about one ends a process, and with it the questions behind
 * it.
 */
const tooLarge = new LRUCache<string, GitLimit>({ max: 1000, ttl: 600_000 })

/**
 * Returns what diff-tree prints for a commit compared with its first parent, split at line ends (stats) or NULs
 * (paths). Returns null when no commit has this id. Throws GitFailure when the answer is larger than 16 MiB, and GitLimit
 * when git needs too much memory or time for it.
 */
export async function askDiffs(repository: string, kind: DiffKind, id: string): Promise<string[] | null> {
  const commit = await readCommit(repository, id)
  if (!commit) return null
  const key = `${repository}\0${kind} ${id}`
  const known = tooLarge.get(key)
  if (known) throw known
  const commits = [id, ...commit.parentIds.slice(0, 1)].join(' ')
  // Something outside may kill both processes of a repository at the same time. When a process dies at each try, this
  // commit is the cause.
  for (let tries = 0; tries < 3; tries++) {
    const process = await pools[kind].of(repository)
    const outcome = await process.ask(commits)
    if ('failed' in outcome) {
      if (outcome.failed instanceof GitLimit) tooLarge.set(key, outcome.failed)
      throw outcome.failed
    }
    if ('text' in outcome) return tokensOf(outcome.text, kind)
  }
  throw new GitFailure(`git diff-tree ended each time at commit ${id}`)
}

/** Drops the first token, which is the commit's own id. A commit without changes gives no tokens at all. */
function tokensOf(text: string, kind: DiffKind): string[] {
  return text
    .split(kind === 'paths' ? '\0' : '\n')
    .filter(token => token !== '')
    .slice(1)
}

/** Ends the processes of one repository, or of all repositories, after they have answered what they were asked. */
export async function closeDiffs(repository?: string): Promise<void> {
  await Promise.all(Object.values(pools).map(pool => pool.close(repository)))
}

atEnd(closeDiffs)
