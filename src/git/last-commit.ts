// Which commit changed a path last, found in this process with the commit-graph's filters.
import { type CommitGraph, commitGraphOf, type PathKey, type Position, pathKeys } from './commit-graph.js'
import { readCommit, readTree } from './objects.js'

/** Commits newer than the graph that are looked at one by one. */
const newest = 200
/** Commits between two pauses for others: about a millisecond of work. */
const stretch = 8192

/**
 * The newest commit at or before `commitId` that changed the path, as `git rev-list -1` simplifies history: a merge that
 * has the path from a parent leads to that parent alone. Null when no commit ever changed it; undefined when git must be
 * asked: without a graph, or too far ahead of it.
 */
export async function walkToLastChange(
  repository: string,
  commitId: string,
  path: string
): Promise<string | null | undefined> {
  const keys = pathKeys(path)
  const graph = keys && (await commitGraphOf(repository))
  if (!keys || !graph) return undefined
  const tip = await readCommit(repository, commitId)
  if (!tip) return undefined
  const names = path.split('/')
  const entry = (treeId: string) => entryOf(repository, treeId, names)
  // The walk goes from a commit to a parent that has the same: what the tip has, all of them have.
  const search: Search = { own: await entry(tip.treeId), entry, keys }
  let commit = tip
  for (let steps = 0; steps < newest; steps++) {
    const at = graph.find(commit.id)
    if (at !== undefined) return await walkInGraph(graph, at, search).catch(leaveToGit)
    const parents = await Promise.all(commit.parentIds.map(id => readCommit(repository, id)))
    const same = await sameParent(
      search,
      parents.map(parent => parent?.treeId)
    )
    const next = typeof same === 'number' ? parents[same] : null
    if (!next) return same === 'changed' ? commit.id : null
    commit = next
  }
  return undefined
}

interface Search {
  /** What the tip has at the path. */
  readonly own: string | null
  /** What a tree has at the path. */
  readonly entry: (treeId: string) => Promise<string | null>
  readonly keys: readonly PathKey[]
}

/** A damaged graph points beyond its own end. */
function leaveToGit(error: unknown): undefined {
  if (!(error instanceof RangeError)) throw error
}

async function walkInGraph(graph: CommitGraph, start: Position, search: Search): Promise<string | null> {
  let at = start
  for (let steps = 1; steps <= graph.size; steps++) {
    if (steps % stretch === 0) await new Promise(resolve => setImmediate(resolve))
    const parents = graph.parentsOf(at)
    if (parents.length > 0 && !graph.mayHaveChanged(at, search.keys)) {
      at = parents[0] as Position
      continue
    }
    const same = await sameParent(
      search,
      parents.map(parent => graph.treeOf(parent))
    )
    if (typeof same !== 'number') return same === 'changed' ? graph.idOf(at) : null
    at = parents[same] as Position
  }
  throw new RangeError('the commit-graph goes round in circles')
}

/**
 * The first parent that has the path as the tip has it, by its index; a path that is in neither counts as the same. The
 * first commit of all changed what it has.
 */
async function sameParent(
  { own, entry }: Search,
  trees: readonly (string | undefined)[]
): Promise<number | 'changed' | 'absent'> {
  for (const [index, tree] of trees.entries()) {
    if (tree !== undefined && (await entry(tree)) === own) return index
  }
  return trees.length === 0 && own === null ? 'absent' : 'changed'
}

/** What lies at the path below a tree, as mode and id. */
async function entryOf(repository: string, treeId: string, names: readonly string[]): Promise<string | null> {
  let found = { mode: '040000', id: treeId }
  for (const name of names) {
    const entries = found.mode === '040000' ? await readTree(repository, found.id) : null
    const next = entries?.find(entry => entry.name === name)
    if (!next) return null
    found = next
  }
  return `${found.mode} ${found.id}`
}
