// Finds the last commit that changed a path, in this process, with the filters of the commit-graph.

import { mayBeEscaped } from '../objects/names.js'
import { mustReadTree, readCommit } from '../objects/objects.js'
import { idInTree } from '../objects/reader.js'
import { nextPiece } from '../objects/time-slices.js'
import { type CommitGraph, commitGraphOf, type PathKey, type Position, pathKeys } from './commit-graph.js'

/** At most this many commits that are newer than the graph are read one by one. */
const NEWEST = 200
/** After this many commits (less than a millisecond of work) the walk lets other work run. */
const STRETCH = 8192

/**
 * Returns the newest commit at or before `commitId` that changed the path. It simplifies history as `git rev-list -1`
 * does: a merge that has the path from a parent leads only to that parent. Returns null when no commit ever changed the
 * path. Returns undefined when the caller must ask git: there is no graph, or `commitId` is too far ahead of it.
 */
export async function walkToLastChange(
  repository: string,
  commitId: string,
  path: string
): Promise<string | null | undefined> {
  // The bytes of such a path are not known here.
  if (mayBeEscaped(path)) return undefined
  const keys = pathKeys(path)
  const graph = keys && (await commitGraphOf(repository))
  if (!keys || !graph) return undefined
  const tip = await readCommit(repository, commitId)
  if (!tip) return undefined
  const names = path.split('/')
  const entry = (treeId: string) => entryOf(repository, treeId, names)
  // The walk only moves to a parent that has the same entry at the path, so all visited commits have the entry of the tip.
  const own = await entry(tip.treeId)
  const hasOwn = async (treeId: string) => {
    // In most cases the file has another id there, and one lookup shows that. The result has no mode, so an equal id
    // proves nothing.
    const id = own && (await idInTree(repository, treeId, path))
    return id && !own.endsWith(id) ? false : (await entry(treeId)) === own
  }
  const search: Search = { own, hasOwn, keys }
  let commit = tip
  for (let steps = 0; steps < NEWEST; steps++) {
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
  /** The entry of the tip at the path. */
  readonly own: string | null
  /** Returns true when a tree has the same entry at the path. */
  readonly hasOwn: (treeId: string) => Promise<boolean>
  readonly keys: readonly PathKey[]
}

/** Returns undefined for a RangeError, so that the caller asks git: a damaged graph points beyond its own end. */
function leaveToGit(error: unknown): undefined {
  if (!(error instanceof RangeError)) throw error
}

async function walkInGraph(graph: CommitGraph, start: Position, search: Search): Promise<string | null> {
  let at = start
  for (let steps = 0; steps <= graph.size; steps++) {
    const walked = graph.passUnchanged(at, search.keys, STRETCH)
    at = walked.at
    steps += walked.passed
    if (walked.passed === STRETCH) {
      await nextPiece()
      continue
    }
    const parents = graph.parentsOf(at)
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
 * Returns the index of the first parent that has the same entry at the path as the tip; a path that is missing in both
 * also counts as the same. Without such a parent the result is `changed`. The result for a root commit is `changed`
 * when it has the path, otherwise `absent`.
 */
async function sameParent(
  { own, hasOwn }: Search,
  trees: readonly (string | undefined)[]
): Promise<number | 'changed' | 'absent'> {
  for (const [index, tree] of trees.entries()) {
    if (tree !== undefined && (await hasOwn(tree))) return index
  }
  return trees.length === 0 && own === null ? 'absent' : 'changed'
}

/** Returns the mode and id of the entry at the path below a tree, or null. */
async function entryOf(repository: string, treeId: string, names: readonly string[]): Promise<string | null> {
  let found = { mode: '040000', id: treeId }
  for (const name of names) {
    const next = found.mode === '040000' ? (await mustReadTree(repository, found.id)).find(name) : null
    if (!next) return null
    found = next
  }
  return `${found.mode} ${found.id}`
}
