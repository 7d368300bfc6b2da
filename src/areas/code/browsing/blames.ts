// Reads who wrote each line of a file, for people.

import { blame } from '../../../git/history/blame.js'
import { lastCommitOfPath } from '../../../git/history/commits.js'
import { mayBeEscaped } from '../../../git/objects/names.js'
import type { Commit } from '../../../git/objects/objects.js'
import { readCommits } from '../history/commit-list.js'
import type { RefPath } from './ref-paths.js'

export interface BlamedRange {
  readonly commit: Commit
  /** The number of the first line, from 1. */
  readonly line: number
  readonly count: number
}

/**
 * Returns the commits of all lines; null for a file whose name is not UTF-8, because git can be asked only for texts. Throws GitLimit
 * when it takes too long.
 */
export async function readBlame({ repository, commitId, path }: RefPath): Promise<BlamedRange[] | null> {
  if (mayBeEscaped(path)) return null
  // The lines are those of the last commit that changed the file, so the answer stays valid when other files change.
  const last = (await lastCommitOfPath(repository, commitId, path)) ?? commitId
  const ranges = await blame(repository, last, path)
  const ids = [...new Set(ranges.map(range => range.commitId))]
  const commits = new Map((await readCommits(repository, ids)).map(commit => [commit.id, commit]))
  return ranges.flatMap(({ commitId: id, line, count }) => {
    const commit = commits.get(id)
    return commit ? [{ commit, line, count }] : []
  })
}
