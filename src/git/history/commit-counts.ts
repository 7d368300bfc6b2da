// Counts commits without a process, for the job that follows a push. Commits come from the commit-graph, and commits that are
// newer than the graph are read one by one.
import { readCommit } from '../objects/objects.js'
import { nextPiece } from '../objects/time-slices.js'
import { listEveryRef } from '../refs/list.js'
import { type CommitGraph, commitGraphOf, type Position } from './commit-graph.js'

/** After this many commits (some milliseconds of work) other work runs. */
const STRETCH = 8192

interface Found {
  /** The positions of commits in the graph. */
  readonly inside: readonly Position[]
  /** The number of commits that are not in the graph. */
  readonly outside: number
}

/**
 * Follows commits from `tips` to the commits in the graph. Returns null when more than `most` commits are outside of the
 * graph, or when something is not a commit or missing.
 */
async function findGraph(
  repository: string,
  { graph, tips, most }: { readonly graph: CommitGraph | null; readonly tips: readonly string[]; readonly most: number }
): Promise<Found | null> {
  const inside = new Set<Position>()
  let outside = 0
  const met = new Set(tips)
  // The set grows while it is read.
  for (const id of met) {
    const at = graph?.find(id)
    if (at !== undefined) {
      inside.add(at)
      continue
    }
    const commit = ++outside > most ? null : await readCommit(repository, id)
    if (!commit) return null
    for (const parent of commit.parentIds) met.add(parent)
  }
  return { inside: [...inside], outside }
}

/**
 * Returns how many commits of all visible refs are outside of the commit-graph, or null for more than `most`, and when it cannot
 * be found out here.
 */
export async function commitsOutsideGraph(repository: string, most: number): Promise<number | null> {
  const list = await listEveryRef(repository)
  if (!list) return null
  const tips = [...new Set(list.refs.map(({ id, peeled }) => peeled ?? id))]
  return (await findGraph(repository, { graph: await commitGraphOf(repository), tips, most }))?.outside ?? null
}

/** Returns the number of commits in the history of a commit, or null when git must count, because more than `most` are outside of the graph. */
export async function countHistory(repository: string, tip: string, most: number): Promise<number | null> {
  const graph = await commitGraphOf(repository)
  const found = await findGraph(repository, { graph, tips: [tip], most })
  if (!found) return null
  const seen = new Uint8Array(graph?.size ?? 0)
  const open = [...found.inside]
  for (const at of open) seen[at] = 1
  let count = found.outside
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (++count % STRETCH === 0) await nextPiece()
    for (const parent of graph?.parentsOf(at) ?? []) {
      if (seen[parent] === 1) continue
      seen[parent] = 1
      open.push(parent)
    }
  }
  return count
}
