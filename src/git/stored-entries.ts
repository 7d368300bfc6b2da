// The entries of a tree as git stores them, by latin1 names. They are found in the bytes by halving, and a changed tree is
// spliced from the bytes of the old one.

export interface StoredEntry {
  readonly mode: string
  readonly id: string
}

export interface StoredEntries {
  readonly count: number
  find(name: string): StoredEntry | null
  /** Returns the bytes with these entries in place of those of the same names; null takes one away. */
  with(entries: readonly { readonly name: string; readonly slot: StoredEntry | null }[]): Buffer
}

const ID_BYTES = 20
const SPACE = 32
const FOLDER = '040000'

/** Finds the entries of a raw tree. Throws when the tree is incomplete, or out of git's order. */
export function storedEntries(raw: Buffer): StoredEntries {
  const places = placesOf(raw)
  const count = places.length - 1
  const keyAt = (index: number) => keyOf(raw, places[index] ?? 0)
  /** The first entry whose key is not before this one. */
  const placeOf = (key: string) => {
    let [low, high] = [0, count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (keyAt(middle) < key) low = middle + 1
      else high = middle
    }
    return low
  }
  /** A folder stands elsewhere in the order than a file of its name. */
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
      return index === -1 ? null : entryAt(raw, places[index] ?? 0)
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
      // At the same place, what is new stands before what is left out.
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

/** Where each entry begins, and the end. */
function placesOf(raw: Buffer): number[] {
  const places: number[] = []
  let before = ''
  let at = 0
  while (at < raw.length) {
    const end = raw.indexOf(0, at)
    if (end === -1 || end + ID_BYTES >= raw.length) throw new Error('a tree is incomplete')
    const key = keyOf(raw, at)
    if (places.length > 0 && key <= before) throw new Error('a tree is out of order')
    places.push(at)
    before = key
    at = end + 1 + ID_BYTES
  }
  places.push(at)
  return places
}

/** The name in git's order: a folder stands as if it ended with a slash. */
function keyOf(raw: Buffer, at: number): string {
  const name = raw.toString('latin1', raw.indexOf(SPACE, at) + 1, raw.indexOf(0, at))
  return modeAt(raw, at) === FOLDER ? `${name}/` : name
}

const modeAt = (raw: Buffer, at: number) => raw.toString('latin1', at, raw.indexOf(SPACE, at)).padStart(6, '0')

function entryAt(raw: Buffer, at: number): StoredEntry {
  const end = raw.indexOf(0, at)
  return { mode: modeAt(raw, at), id: raw.toString('hex', end + 1, end + 1 + ID_BYTES) }
}

const bytesOf = (name: string, { mode, id }: StoredEntry) =>
  Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])
