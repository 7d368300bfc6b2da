// The entries of a tree as git stores them, by latin1 names. A binary search in the bytes finds them, and a changed
// tree is spliced from the bytes of the old one.
import { entryAt, ID_BYTES, nameAt, nameEnd } from './tree-object.js'

interface StoredEntry {
  readonly mode: string
  readonly id: string
}

export interface StoredEntries {
  readonly count: number
  find(name: string): StoredEntry | null
  /** Returns the bytes with these entries in place of the entries with the same names; null removes an entry. */
  with(entries: readonly { readonly name: string; readonly slot: StoredEntry | null }[]): Buffer
}

const FOLDER = '040000'

/** Reads the entries of a raw tree. Sorts a tree that is not in git's order. Throws when the tree is incomplete. */
export function storedEntries(raw: Buffer): StoredEntries {
  const { places, sorted } = placesOf(raw)
  if (!sorted) return storedEntries(inOrder(raw, places))
  const count = places.length - 1
  const keyAt = (index: number) => keyOf(raw, places[index] ?? 0)
  /** Returns the index of the first entry whose key is not before `key`. */
  const placeOf = (key: string) => {
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (keyAt(middle) < key) low = middle + 1
      else high = middle
    }
    return low
  }
  /** A folder has a different place in the order than a file with its name. */
  const indexOf = (name: string) => {
    for (const key of [name, `${name}/`]) {
      const index = placeOf(key)
      if (index < count && keyAt(index) === key) return index
    }
    return -1
  }
  return {
    count,
    find: name => {
      const index = indexOf(name)
      return index === -1 ? null : slotAt(raw, places[index] ?? 0)
    },
    with: entries => {
      const gone = entries.flatMap(({ name }) => {
        const at = indexOf(name)
        return at === -1 ? [] : [{ at, key: '', bytes: null }]
      })
      const added = entries.flatMap(({ name, slot }) => {
        if (!slot) return []
        const key = slot.mode === FOLDER ? `${name}/` : name
        return [{ at: placeOf(key), key, bytes: bytesOf(name, slot) }]
      })
      // At the same place, new entries come before removed ones.
      const steps = [...added, ...gone].sort(
        (a, b) => a.at - b.at || Number(a.bytes === null) - Number(b.bytes === null) || (a.key < b.key ? -1 : 1)
      )
      const parts: Buffer[] = []
      let from = 0
      for (const { at, bytes } of steps) {
        parts.push(raw.subarray(from, places[at]))
        if (bytes) parts.push(bytes)
        from = places[bytes ? at : at + 1] ?? raw.length
      }
      return Buffer.concat([...parts, raw.subarray(from)])
    }
  }
}

/** Returns where each entry begins, and the end, and whether the entries are sorted. */
function placesOf(raw: Buffer): { readonly places: readonly number[]; readonly sorted: boolean } {
  const places: number[] = []
  let sorted = true
  let before = ''
  let at = 0
  while (at < raw.length) {
    const key = keyOf(raw, at)
    if (places.length > 0 && key <= before) sorted = false
    places.push(at)
    before = key
    at = endOf(raw, at)
  }
  places.push(at)
  return { places, sorted }
}

/** When a damaged tree contains a name twice, its last entry stays. */
function inOrder(raw: Buffer, places: readonly number[]): Buffer {
  const byName = new Map(places.slice(0, -1).map(at => [keyOf(raw, at).replace(/\/$/, ''), at]))
  const kept = [...byName.values()].map(at => ({ at, key: keyOf(raw, at) })).sort((a, b) => (a.key < b.key ? -1 : 1))
  return Buffer.concat(kept.map(({ at }) => raw.subarray(at, endOf(raw, at))))
}

const endOf = (raw: Buffer, at: number) => nameEnd(raw, nameAt(raw, at)) + 1 + ID_BYTES

/** Returns the name in git's order: a folder sorts as if its name ended with a slash. */
function keyOf(raw: Buffer, at: number): string {
  const from = nameAt(raw, at)
  const name = raw.toString('latin1', from, nameEnd(raw, from))
  return raw.toString('latin1', at, from - 1).padStart(6, '0') === FOLDER ? `${name}/` : name
}

function slotAt(raw: Buffer, at: number): StoredEntry {
  const from = nameAt(raw, at)
  const { mode, id } = entryAt(raw, at, from, nameEnd(raw, from))
  return { mode, id }
}

const bytesOf = (name: string, { mode, id }: StoredEntry) =>
  Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])
