// Checks that a small push brings everything that its new commits need, as `git rev-list --objects NEW --not --all` does.
// What the push does not bring must be reachable already: the parents of its commits are values of refs or in the history
// of one, and all else that its trees name is also in trees of these parents. Anything else is left to git, which walks through the history.
import type { LooseObject } from '../../objects/loose-writer.js'
import { readCommit, readTree, type TreeEntry } from '../../objects/objects.js'
import { LeaveToGit } from '../../objects/odb/leave-to-git.js'
import { isStoredNow } from '../../objects/odb/stored.js'
import { objectInfo, readSmall } from '../../objects/reader.js'
import { nextPiece } from '../../objects/time-slices.js'
import { areAttributes, checkAttributes, checkBlob, plainCommit, plainTag, plainTree } from './plain.js'

/** The maximum number of objects that are looked up one by one, because no parent has them in the same folder. */
const MOST_LOOKUPS = 32
/** The maximum number of commits outside the push on which it builds. */
const MOST_ROOTS = 32
/** The maximum number of entries in all trees that are compared. */
const MOST_ENTRIES = 20_000
/** The maximum number of bytes of a tree in the push. */
const LARGEST_TREE = 256 * 1024
/** The maximum number of bytes of a file of attributes. */
const LARGEST_ATTRIBUTES = 64 * 1024
/** Entries: about a millisecond of work. */
const MANY = 1000

export interface Arrived {
  /** The objects of the push by their ids. */
  readonly objects: ReadonlyMap<string, LooseObject>
  /** The values of the refs before the push. */
  readonly olds: ReadonlySet<string>
  /** Returns the values of all refs, and the objects that annotated tags point at. It is called once at most. */
  readonly tips: () => Promise<ReadonlySet<string>>
  /** Returns whether the history of a ref contains a commit, as far as that is cheap to see. */
  readonly isInHistory: (id: string) => Promise<boolean>
}

export interface Connected {
  /** The objects of the push that the tip needs; each comes before the objects that refer to it. */
  readonly objects: readonly LooseObject[]
  /** The commits outside the push on which it builds. */
  readonly roots: ReadonlySet<string>
}

/** Returns the objects of a push that sets a ref to `tip`. Throws LeaveToGit. */
export async function connect(repository: string, tip: string, arrived: Arrived): Promise<Connected> {
  const walk = new Walk(repository, arrived)
  await walk.visitTip(tip)
  return { objects: walk.ordered, roots: walk.roots }
}

type Entries = ReadonlyMap<string, TreeEntry>

class Walk {
  readonly ordered: LooseObject[] = []
  readonly roots = new Set<string>()
  readonly #repository: string
  readonly #arrived: Arrived
  readonly #visited = new Set<string>()
  /** The types and ids of objects that are reachable already. */
  readonly #reachable = new Set<string>()
  readonly #trees = new Map<string, Entries>()
  /** The trees of the commits that were visited. */
  readonly #treeIds = new Map<string, string>()
  #tips: ReadonlySet<string> | undefined
  #lookups = 0
  #entries = 0
  #searched = false

  constructor(repository: string, arrived: Arrived) {
    this.#repository = repository
    this.#arrived = arrived
  }

  async visitTip(id: string): Promise<void> {
    const object = this.#arrived.objects.get(id)
    if (object?.type !== 'tag') return await this.#visitCommit(id)
    await this.#visitCommit(plainTag(object.content))
    this.ordered.push(object)
  }

  async #visitCommit(id: string): Promise<void> {
    const object = this.#arrived.objects.get(id)
    if (!object) return await this.#takeRoot(id)
    if (this.#isSeen(object, 'commit')) return
    const { treeId, parents } = plainCommit(object.content)
    this.#treeIds.set(id, treeId)
    const before: string[] = []
    for (const parent of parents) {
      await this.#visitCommit(parent)
      before.push(await this.#treeOf(parent))
    }
    if (this.#arrived.objects.has(treeId)) await this.#visitTree(treeId, before)
    else if (!before.includes(treeId)) throw new LeaveToGit('a tree of an older commit')
    this.ordered.push(object)
  }

  async #takeRoot(id: string): Promise<void> {
    if (this.roots.has(id)) return
    if (this.roots.size >= MOST_ROOTS) throw new LeaveToGit('many parents outside the push')
    const isTip = await this.#isTip(id)
    // Refs and tags may also name other objects, and a tag that calls one of these a commit breaks every clone.
    if (!(await readCommit(this.#repository, id))) throw new LeaveToGit('a parent that is no commit')
    if (!isTip && !(await this.#isOlder(id))) throw new LeaveToGit('a parent that may be unreachable')
    this.roots.add(id)
  }

  async #isTip(id: string): Promise<boolean> {
    if (this.#arrived.olds.has(id)) return true
    // Listing the refs once for each parent of a push held up all other requests for more than a second.
    this.#tips ??= await this.#arrived.tips()
    return this.#tips.has(id)
  }

  /** Looked up once only: each search reads many commits. */
  async #isOlder(id: string): Promise<boolean> {
    if (this.#searched) return false
    this.#searched = true
    return await this.#arrived.isInHistory(id)
  }

  async #treeOf(commit: string): Promise<string> {
    const treeId = this.#treeIds.get(commit) ?? (await readCommit(this.#repository, commit))?.treeId
    if (treeId === undefined) throw new LeaveToGit('a parent that cannot be read')
    return treeId
  }

  /** `before` are the trees at the same path in the parents. */
  async #visitTree(id: string, before: readonly string[]): Promise<void> {
    const object = this.#arrived.objects.get(id)
    if (!object || this.#isSeen(object, 'tree')) return
    const entries = await this.#parse(object)
    const older: Entries[] = []
    for (const tree of before) older.push(await this.#entriesOf(tree))
    for (const entry of entries.values()) {
      if (areAttributes(entry)) await this.#checkAttributes(entry)
      if (!this.#arrived.objects.has(entry.id)) await this.#requireReachable(entry)
      else if (entry.type === 'tree') await this.#visitTree(entry.id, treesAt(entry.name, older))
      else this.#visitBlob(entry)
    }
    this.ordered.push(object)
  }

  #visitBlob({ id, mode }: TreeEntry): void {
    const object = this.#arrived.objects.get(id)
    if (!object || mode === LINK) throw new LeaveToGit('a new symbolic link')
    if (this.#isSeen(object, 'blob')) return
    checkBlob(object.content)
    this.ordered.push(object)
  }

  /** Returns whether an object was visited before. Throws LeaveToGit when it is not of the type that something needs. */
  #isSeen({ id, type }: LooseObject, wanted: LooseObject['type']): boolean {
    if (type !== wanted) throw new LeaveToGit('an object of another type')
    const seen = this.#visited.has(id)
    this.#visited.add(id)
    return seen
  }

  /** Returns the entries of a tree that was visited, or that is reachable already. */
  async #entriesOf(id: string): Promise<Entries> {
    return this.#trees.get(id) ?? (await this.#readTree(id))
  }

  async #readTree(id: string): Promise<Entries> {
    const tree = await readTree(this.#repository, id)
    if (!tree) throw new LeaveToGit('a tree that cannot be read')
    const found = new Map<string, TreeEntry>()
    for (let next: number | null = 0; next !== null; ) {
      const part = tree.read(next)
      for (const entry of part.entries) {
        found.set(entry.name, entry)
        this.#reachable.add(keyOf(entry))
      }
      await this.#count(part.entries.length)
      next = part.next
    }
    this.#trees.set(id, found)
    return found
  }

  async #parse({ id, content }: LooseObject): Promise<Entries> {
    if (content.length > LARGEST_TREE) throw new LeaveToGit('a large tree')
    const entries = plainTree(content)
    await this.#count(entries.length)
    const found = new Map(entries.map(entry => [entry.name, entry]))
    this.#trees.set(id, found)
    return found
  }

  /** Lets other work run after many entries. */
  async #count(entries: number): Promise<void> {
    const pieces = Math.floor(this.#entries / MANY)
    this.#entries += entries
    if (this.#entries > MOST_ENTRIES) throw new LeaveToGit('many entries of trees')
    if (Math.floor(this.#entries / MANY) > pieces) await nextPiece()
  }

  async #requireReachable(entry: TreeEntry): Promise<void> {
    if (this.#reachable.has(keyOf(entry))) return
    // A blob needs nothing else, so it is enough that it exists: it was renamed, or is back.
    if (kindOf(entry) !== 'blob') throw new LeaveToGit('an object that may not be reachable')
    this.#countLookup()
    const found = await objectInfo(this.#repository, entry.id)
    if (found?.type !== 'blob') throw new LeaveToGit('a blob that is missing')
    if (!(await isStoredNow(this.#repository, entry.id))) throw new LeaveToGit('a blob that may have been pruned')
  }

  async #checkAttributes({ id, mode }: TreeEntry): Promise<void> {
    this.#countLookup()
    const object = this.#arrived.objects.get(id) ?? (await readSmall(this.#repository, id))
    if (object?.type !== 'blob' || mode === LINK) throw new LeaveToGit('attributes that are no file')
    if (!object.content || object.content.length > LARGEST_ATTRIBUTES) throw new LeaveToGit('many attributes')
    checkAttributes(object.content)
  }

  #countLookup(): void {
    if (++this.#lookups > MOST_LOOKUPS) throw new LeaveToGit('many objects of other folders')
  }
}

/** The mode of a symbolic link. Newer versions of git check where new ones lead. */
const LINK = '120000'

const kindOf = ({ mode, type }: TreeEntry) => (mode === LINK ? 'link' : type)
const keyOf = (entry: TreeEntry) => `${kindOf(entry)} ${entry.id}`

const treesAt = (name: string, older: readonly Entries[]) =>
  older.flatMap(entries => {
    const found = entries.get(name)
    return found?.type === 'tree' ? [found.id] : []
  })
