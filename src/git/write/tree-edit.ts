// Edits a tree in memory. It reads a folder only when a change affects it; the other folders keep their ids. Names are
// latin1 strings of their bytes, so that a name that is not UTF-8 is preserved and the order of strings is git's order.
// Entries that are not changed stay bytes: as objects, the entries of a folder with a million files took 700 MB.
import { type LooseObject, makeObject } from '../objects/loose-writer.js'
import { mustReadTree } from '../objects/objects.js'
import { type StoredEntries, storedEntries } from '../objects/stored-entries.js'

export interface Slot {
  readonly mode: string
  /** The old id until `build` computes the new id of the folder. */
  id: string
  /** Set when a change affects the folder. */
  folder?: Folder
}

export interface Folder {
  readonly stored: StoredEntries
  /** The entries that were looked up or changed, by name; null for an entry that does not exist. */
  readonly touched: Map<string, Slot | null>
  changed: boolean
}

const toBytes = (text: string) => Buffer.from(text).toString('latin1')

/** Opens the folder with a tree id, or an empty folder for null. Throws DamagedRepository when the tree is missing. */
export async function openFolder(repository: string, treeId: string | null): Promise<Folder> {
  if (treeId === null) return newFolder()
  const { raw } = await mustReadTree(repository, treeId)
  return { stored: storedEntries(raw), touched: new Map(), changed: false }
}

const newFolder = (): Folder => ({ stored: storedEntries(Buffer.alloc(0)), touched: new Map(), changed: true })

function slotOf({ stored, touched }: Folder, name: string): Slot | null {
  const known = touched.get(name)
  if (known !== undefined) return known
  const found = stored.find(name)
  touched.set(name, found)
  return found
}

/** Returns whether all stored entries are removed, and none was added. */
const isEmpty = ({ stored, touched }: Folder) =>
  stored.count <= touched.size &&
  [...touched.values()].every(slot => slot === null) &&
  [...touched.keys()].filter(name => stored.find(name)).length === stored.count

/** Returns the entry at a path, or null. Returns `blocked` when a component above it is not a folder. */
export async function find(repository: string, root: Folder, components: string[]): Promise<Slot | 'blocked' | null> {
  let folder = root
  for (const [index, name] of components.entries()) {
    const slot = slotOf(folder, toBytes(name))
    if (!slot || index === components.length - 1) return slot ?? null
    if (slot.mode !== '040000') return 'blocked'
    folder = await enter(repository, slot)
  }
  return null
}

async function enter(repository: string, slot: Slot): Promise<Folder> {
  slot.folder ??= await openFolder(repository, slot.id)
  return slot.folder
}

/** Puts an entry at a path. When `entry` is null, it removes the entry and the folders that become empty. */
export async function place(
  repository: string,
  folder: Folder,
  components: string[],
  entry: { mode: string; id: string } | null
): Promise<void> {
  const [first = '', ...rest] = components
  const name = toBytes(first)
  folder.changed = true
  if (rest.length === 0) {
    folder.touched.set(name, entry)
    return
  }
  const slot = slotOf(folder, name) ?? { mode: '040000', id: '', folder: newFolder() }
  folder.touched.set(name, slot)
  const inner = await enter(repository, slot)
  await place(repository, inner, rest, entry)
  if (isEmpty(inner)) folder.touched.set(name, null)
}

/**
 * Adds the changed trees to `objects`, inner trees first, and returns the id of this tree. `id` is the result when the
 * folder has not changed.
 */
export function build(folder: Folder, id: string, objects: LooseObject[]): string {
  if (!folder.changed) return id
  const placed = [...folder.touched].map(([name, slot]) => {
    if (slot?.folder) slot.id = build(slot.folder, slot.id, objects)
    return { name, slot }
  })
  const tree = makeObject('tree', folder.stored.with(placed))
  objects.push(tree)
  return tree.id
}
