// Edits a tree in memory. It reads a folder only when a change reaches into it; the other folders keep their ids. Names
// are latin1 strings of their bytes, so that a name that is not UTF-8 survives and the order of strings is git's order.
import { type LooseObject, makeObject } from './loose.js'
import { mustReadTree, parseTree } from './objects.js'

export interface Slot {
  readonly mode: string
  /** The old id until `build` gives the folder its new one. */
  id: string
  /** Set when a change reaches into the folder. */
  folder?: Folder
}

export interface Folder {
  readonly slots: Map<string, Slot>
  changed: boolean
}

const toBytes = (text: string) => Buffer.from(text).toString('latin1')

/** Opens the folder with a tree id, or an empty folder for null. Throws DamagedRepository when the tree is missing. */
export async function openFolder(repository: string, treeId: string | null): Promise<Folder> {
  if (treeId === null) return { slots: new Map(), changed: true }
  const { raw } = await mustReadTree(repository, treeId)
  const entries = parseTree(raw, 'latin1')
  return { slots: new Map(entries.map(({ name, mode, id }) => [name, { mode, id }])), changed: false }
}

/** Returns the entry at a path, or null. Returns `blocked` when a component above it is not a folder. */
export async function find(repository: string, root: Folder, components: string[]): Promise<Slot | 'blocked' | null> {
  let folder = root
  for (const [index, name] of components.entries()) {
    const slot = folder.slots.get(toBytes(name))
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
    if (entry) folder.slots.set(name, entry)
    else folder.slots.delete(name)
    return
  }
  const slot = folder.slots.get(name) ?? { mode: '040000', id: '', folder: { slots: new Map(), changed: true } }
  folder.slots.set(name, slot)
  const inner = await enter(repository, slot)
  await place(repository, inner, rest, entry)
  if (inner.slots.size === 0) folder.slots.delete(name)
}

/**
 * Adds the changed trees to `objects`, inner trees first, and returns the id of this tree. `id` is the result when the
 * folder has not changed.
 */
export function build(folder: Folder, id: string, objects: LooseObject[]): string {
  if (!folder.changed) return id
  const sorted: [string, string, Slot][] = [...folder.slots].map(([name, slot]) => {
    return [slot.mode === '040000' ? `${name}/` : name, name, slot]
  })
  sorted.sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = sorted.flatMap(([, name, slot]) => {
    if (slot.folder) slot.id = build(slot.folder, slot.id, objects)
    const head = Buffer.from(`${slot.mode.replace(/^0/, '')} ${name}\0`, 'latin1')
    return [head, Buffer.from(slot.id, 'hex')]
  })
  const tree = makeObject('tree', Buffer.concat(parts))
  objects.push(tree)
  return tree.id
}
