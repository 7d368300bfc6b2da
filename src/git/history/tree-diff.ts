// Compares trees in this process. Most commits change few files, and a git process for each repository that somebody
// views costs more than reading the trees. Git compares large or unusual trees.
import { mayBeEscaped } from '../objects/names.js'
import { mustReadTree } from '../objects/objects.js'
import { LeaveToGit } from '../objects/odb/leave-to-git.js'
import { isForGit } from '../objects/odb/stored.js'
import { nextPiece } from '../objects/time-slices.js'
import type { TreeEntry } from '../objects/tree-object.js'

export interface FileState {
  readonly mode: string
  readonly id: string
}

/** A file that only one tree has, or that differs between the trees. A renamed file counts as two changes. */
export interface FileChange {
  readonly path: string
  readonly before: FileState | null
  readonly after: FileState | null
}

/** The maximum number of trees that are read for one comparison, and of files that may differ. */
const MOST_TREES = 300
const MOST_CHANGES = 2000
/** Bytes of folders after which a comparison lets other work run: they may all be in the cache. */
const STRETCH_BYTES = 262_144

/**
 * Returns the files that differ between two trees, in git's order; null stands for an empty tree. Returns undefined
 * when the caller must ask git: for large repositories and folders, many changes, names that are not UTF-8, and folders
 * that are out of order.
 */
export async function diffTrees(
  repository: string,
  before: string | null,
  after: string | null
): Promise<FileChange[] | undefined> {
  // For such a repository, a question to a shared process costs less than reading trees here.
  if (isForGit(repository)) return undefined
  const changes: FileChange[] = []
  let [trees, bytes] = [0, 0]

  async function entriesOf(id: string | null): Promise<readonly Listed[]> {
    if (id === null) return []
    if (++trees > MOST_TREES) throw new LeaveToGit('a comparison of trees')
    const tree = await mustReadTree(repository, id)
    bytes += tree.raw.length
    if (bytes >= STRETCH_BYTES) {
      bytes = 0
      await nextPiece()
    }
    const { entries, next } = tree.read(0)
    if (next !== null) throw new LeaveToGit('a comparison of trees')
    return listed(entries)
  }

  async function compare(old: string | null, young: string | null, folder: string): Promise<void> {
    const [a, b] = [await entriesOf(old), await entriesOf(young)]
    for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
      const [left, right] = [a[i], b[j]]
      const order = left && right ? compareKeys(left.key, right.key) : left ? -1 : 1
      if (order <= 0) i++
      if (order >= 0) j++
      await differ(order <= 0 ? left : undefined, order >= 0 ? right : undefined, folder)
    }
  }

  /** Entries with the same key are both folders or both not. */
  async function differ(left: Listed | undefined, right: Listed | undefined, folder: string): Promise<void> {
    if (left?.mode === right?.mode && left?.id === right?.id) return
    const { key = '' } = left ?? right ?? {}
    if (key.endsWith('/')) return compare(left?.id ?? null, right?.id ?? null, folder + key)
    if (changes.length === MOST_CHANGES) throw new LeaveToGit('a comparison of trees')
    changes.push({ path: folder + key, before: stateOf(left), after: stateOf(right) })
  }

  try {
    await compare(before, after, '')
    return changes
  } catch (error) {
    if (error instanceof LeaveToGit) return undefined
    throw error
  }
}

interface Listed extends FileState {
  /** The name; for a folder, with a slash at the end, because git sorts by it. */
  readonly key: string
}

function listed(entries: readonly TreeEntry[]): Listed[] {
  let last: string | undefined
  return entries.map(({ mode, name, type, id }) => {
    const key = type === 'tree' ? `${name}/` : name
    if (mayBeEscaped(name) || name === '' || name.includes('/')) throw new LeaveToGit('a comparison of trees')
    if (last !== undefined && compareKeys(last, key) >= 0) throw new LeaveToGit('a comparison of trees')
    last = key
    return { key, mode: plainMode(mode, type), id }
  })
}

/** For a regular file, git only checks whether its owner may execute it. */
function plainMode(mode: string, type: TreeEntry['type']): string {
  if (type !== 'blob' || !mode.startsWith('100')) return mode
  return Number.parseInt(mode, 8) & 0o100 ? '100755' : '100644'
}

const ASCII = /^[\x00-\x7f]*$/

/** Git compares bytes. */
function compareKeys(a: string, b: string): number {
  if (ASCII.test(a) && ASCII.test(b)) return a < b ? -1 : a > b ? 1 : 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const stateOf = (entry: Listed | undefined): FileState | null => (entry ? { mode: entry.mode, id: entry.id } : null)
