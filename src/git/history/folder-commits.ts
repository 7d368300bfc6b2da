// Finds the last commit of every entry of a folder in one walk through the history. A commit has some of the entries to
// explain; those that a parent has too are left to that parent, and the commit changed the others.
import { LRUCache } from 'lru-cache'
import { remember } from '../objects/cache.js'
import { mustReadTree, readTree, type Tree } from '../objects/objects.js'
import { idInTree } from '../objects/reader.js'
import { nextPiece } from '../objects/time-slices.js'
import { type PathKey, pathKeys } from './commit-graph.js'
import { walkToLastChange } from './last-commit.js'
import { type Step, StepQueue, type StepReader, stepReader } from './steps.js'

/** The maximum number of entries of one question. */
const MOST_ENTRIES = 1000
/** The maximum number of commits whose folder is compared: about a tenth of a second of work. */
const MOST_STEPS = 1500
/** After this many commits, a few entries that are left get walks of their own: the filters of the commit-graph make them short. */
const MANY_STEPS = 300
const FEW = 100
/** Milliseconds after which other requests get their turn. Names may be so long that one commit takes 20. */
const STRETCH_MS = 3

type Found = ReadonlyMap<string, string>
type Names = Set<string>

interface Known {
  readonly treeId: string | null
  readonly found: Found
}

/** The last answer about a folder: after the next push, the walk ends where the folder was as it is here. */
const answers = new LRUCache<string, Known>({
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: ({ found }) => sizeOf(found) + 500
})

/** Bytes. A name may have 65,000. */
const sizeOf = (found: Found): number => [...found.keys()].reduce((sum, name) => sum + name.length * 2 + 150, 0)

/**
 * Returns the ids of the newest commits at or before `commitId` that changed each of the entries, as `lastCommitOfPath`
 * does for one path. `names` are entries of the folder in this commit, at most MOST_ENTRIES. Entries that did not change
 * for a very long time may be missing from the result.
 */
export async function lastCommitsIn(
  repository: string,
  commitId: string,
  { folder, names }: { readonly folder: string; readonly names: readonly string[] }
): Promise<Found> {
  const asked = names.slice(0, MOST_ENTRIES)
  const first = asked[0] ?? ''
  const found = await remember(repository, `lasts ${commitId} ${folder}/${first} ${asked.length}`, async () => {
    const value = await find(repository, commitId, folder, asked)
    return { value, size: sizeOf(value) }
  })
  return found ?? new Map()
}

async function find(repository: string, commitId: string, folder: string, names: readonly string[]): Promise<Found> {
  const key = `${repository}\0${folder}`
  const found = new Map<string, string>()
  const keys = folder === '' ? null : pathKeys(folder)
  const walk = { repository, folder, keys, found, known: answers.get(key), reader: await stepReader(repository) }
  const tip = await walk.reader.read(commitId)
  if (!tip) return found
  const left = await walkAll(walk, tip, new Set(names))
  const prefix = folder === '' ? '' : `${folder}/`
  for (const name of left.length > FEW ? [] : left) {
    const last = await walkToLastChange(repository, commitId, prefix + name)
    if (last) found.set(name, last)
  }
  answers.set(key, { treeId: await folderOf(walk, tip.treeId), found })
  return found
}

interface Walk {
  readonly repository: string
  readonly folder: string
  /** The keys of the folder in the filters of the commit-graph; null for the root folder, which every commit changes. */
  readonly keys: readonly PathKey[] | null
  readonly found: Map<string, string>
  readonly known: Known | undefined
  readonly reader: StepReader
}

/** Returns the names that are left at the limit. */
async function walkAll(walk: Walk, tip: Step, names: Names): Promise<string[]> {
  const { reader } = walk
  const queue = new StepQueue<Names>()
  const add = (step: Step | null, some: Names) => {
    if (step && some.size > 0) queue.add(step, some, known => known.union(some))
  }
  add(tip, names)
  const count = names.size
  let since = performance.now()
  for (let steps = 1; steps <= MOST_STEPS; steps++) {
    if (reader.hasGraph && steps > MANY_STEPS && count - walk.found.size <= FEW) break
    const next = queue.take()
    if (!next) break
    if (performance.now() - since > STRETCH_MS) {
      await nextPiece()
      since = performance.now()
    }
    for (const [step, some] of await explain(walk, next.step, next.value)) add(step, some)
  }
  const left: string[] = []
  for (let next = queue.take(); next; next = queue.take()) left.push(...next.value)
  return left
}

/** Notes the entries that a commit changed, and returns earlier commits with the entries that are left to each. */
async function explain(walk: Walk, step: Step, names: Names): Promise<[Step | null, Names][]> {
  const { found, known, keys, reader, repository } = walk
  const own = await folderOf(walk, step.treeId)
  if (known && own === known.treeId) {
    for (const name of names) {
      const last = known.found.get(name)
      if (!last) continue
      found.set(name, last)
      names.delete(name)
    }
  }
  const before = keys ? await reader.pass(step, keys) : step
  if (before !== step) return [[before, names]]
  const passed: [Step | null, Names][] = []
  for (const parentId of step.parentIds) {
    if (names.size === 0) break
    const parent = await reader.read(parentId)
    const theirs = parent && (await folderOf(walk, parent.treeId))
    if (!theirs || !own) continue
    const same = theirs === own ? names : await sameEntries(repository, own, theirs, names)
    passed.push([parent, same])
    names = names.difference(same)
  }
  for (const name of names) found.set(name, step.id)
  return passed
}

/** Returns the id of the folder below a tree; null when there is no such folder. */
async function folderOf(
  { repository, folder }: Pick<Walk, 'repository' | 'folder'>,
  treeId: string
): Promise<string | null> {
  if (folder === '') return treeId
  const direct = await idInTree(repository, treeId, folder)
  if (direct) return direct
  let id = treeId
  for (const name of folder.split('/')) {
    const entry = (await mustReadTree(repository, id)).find(name)
    if (entry?.type !== 'tree') return null
    id = entry.id
  }
  return id
}

async function sameEntries(repository: string, own: string, theirs: string, names: Names): Promise<Names> {
  const [mine, other] = [await mustReadTree(repository, own), await readTree(repository, theirs)]
  // In an older commit, a file may have the name of the folder.
  if (!other) return new Set()
  const [find, findOther] = [finder(mine), finder(other)]
  const same: Names = new Set()
  for (const name of names) {
    const value = find(name)
    if (value !== undefined && value === findOther(name)) same.add(name)
  }
  return same
}

/** Returns a function that finds the mode and id of an entry. A small tree is parsed once, because many names follow. */
function finder(tree: Tree): (name: string) => string | undefined {
  const { entries, next } = tree.read(0)
  if (next === null) {
    const all = new Map(entries.map(({ name, mode, id }) => [name, `${mode} ${id}`]))
    return name => all.get(name)
  }
  return name => {
    const entry = tree.find(name)
    return entry ? `${entry.mode} ${entry.id}` : undefined
  }
}
