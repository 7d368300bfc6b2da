// Reads the commit-graph files of a repository. They contain the parents and trees of commits, so that the commits need not be
// read, and for each commit a Bloom filter of the paths that it changed. A layer never changes, but the list of layers does.
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { remember } from '../objects/cache.js'
import { objectCacheSize } from '../objects/cache-sizes.js'

/** The position of a commit in the whole graph. */
export type Position = number

export interface CommitGraph {
  /** Number of commits in the graph. */
  readonly size: number
  /** Returns the position of a commit, or undefined when the graph does not contain it. */
  find(id: string): Position | undefined
  idOf(at: Position): string
  treeOf(at: Position): string
  parentsOf(at: Position): Position[]
  /** Returns the date of a commit, in seconds since 1970. */
  dateOf(at: Position): number
  /**
   * Follows first parents, at most `most` of them, past commits that certainly changed none of `keys` compared with
   * their first parent. Returns the first commit that may have changed one of them or that has no parent, or the commit
   * after `most` steps, and the number of commits that it passed.
   */
  passUnchanged(
    at: Position,
    keys: readonly PathKey[],
    most: number
  ): { readonly at: Position; readonly passed: number }
}

/** The two hashes of a path that the filters use. */
export interface PathKey {
  readonly first: number
  readonly second: number
}

interface Layer {
  /** The position of the layer's first commit. */
  readonly base: number
  readonly count: number
  readonly fanout: Uint32Array
  readonly ids: Buffer
  readonly commits: Buffer
  readonly edges: Buffer
  readonly filters: Filters | null
  /** The first parent of each commit: a walk reads nothing else of most commits. */
  readonly parents: Uint32Array
}

interface Filters {
  /** Where the filter of each commit ends in `bits`. */
  readonly ends: Uint32Array
  readonly bits: Buffer
  readonly hashes: number
}

const NO_PARENT = 0x70000000
const MORE_PARENTS = 0x80000000
const ID_BYTES = 20
const COMMIT_BYTES = 36
const FILTER_HEADER = 12

/** The list of layers is read again after this many milliseconds. An older list is also correct, but lacks the newest layers. */
const FRESHNESS = 2000
const lists = new LRUCache<string, Promise<CommitGraph | null>>({ max: 200, ttl: FRESHNESS })

/** Returns the graph of a repository, or null when it has none or when the graph is too large to keep in memory. */
export function commitGraphOf(repository: string): Promise<CommitGraph | null> {
  const known = lists.get(repository)
  if (known) return known
  const loading = load(repository).catch(() => null)
  lists.set(repository, loading)
  return loading
}

/** Drops the list of layers of one repository, or of all repositories, so that the next call reads it again. */
export function forgetGraph(repository?: string): void {
  if (repository === undefined) lists.clear()
  else lists.delete(repository)
}

async function load(repository: string): Promise<CommitGraph | null> {
  const folder = join(repository, 'objects/info')
  const chain = await readFile(join(folder, 'commit-graphs/commit-graph-chain'), 'latin1').catch(() => '')
  const names = chain.split('\n').filter(name => /^[0-9a-f]{40}$/.test(name))
  if (names.length === 0) return null
  const layers: Layer[] = []
  let base = 0
  for (const name of names) {
    const layer = await layerOf(repository, join(folder, `commit-graphs/graph-${name}.graph`), name, base)
    if (!layer) return null
    layers.push(layer)
    base += layer.count
  }
  return graphOf(layers)
}

function layerOf(repository: string, path: string, name: string, base: number): Promise<Layer | null> {
  return remember(repository, `graph ${name} ${base}`, async () => {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      // The cache would keep little else, or not even this file: then every call would read it again.
      if (size > objectCacheSize() / 2 - 4096) return null
      const value = parseLayer(await file.readFile(), base)
      return { value, size: size + value.parents.byteLength + (value.filters?.ends.byteLength ?? 0) }
    } finally {
      await file.close()
    }
  })
}

/** Parses one layer. Throws when the file is not a commit-graph of the format that git 2.38 and later write. */
function parseLayer(file: Buffer, base: number): Layer {
  if (file.toString('latin1', 0, 4) !== 'CGPH' || file[4] !== 1 || file[5] !== 1) throw new Error('not a commit-graph')
  const chunks = new Map<string, Buffer>()
  for (let at = 8, left = file[6] ?? 0; left > 0; at += 12, left--) {
    const [from, to] = [Number(file.readBigUInt64BE(at + 4)), Number(file.readBigUInt64BE(at + 16))]
    chunks.set(file.toString('latin1', at, at + 4), file.subarray(from, to))
  }
  const chunk = (name: string) => chunks.get(name) ?? Buffer.alloc(0)
  const fanout = Uint32Array.from({ length: 256 }, (_, byte) => chunk('OIDF').readUInt32BE(byte * 4))
  const [ends, bits] = [chunk('BIDX'), chunk('BDAT')]
  // Versions 1 and 2 hash bytes above 127 differently. `pathKeys` returns no keys for paths with such bytes.
  const filtered = bits.length >= FILTER_HEADER && [1, 2].includes(bits.readUInt32BE(0))
  const count = fanout[255] ?? 0
  const commits = chunk('CDAT')
  return {
    base,
    count,
    fanout,
    ids: chunk('OIDL'),
    commits,
    edges: chunk('EDGE'),
    filters: filtered
      ? { ends: numbersIn(ends, 0, 4, count), bits: bits.subarray(FILTER_HEADER), hashes: bits.readUInt32BE(4) }
      : null,
    parents: numbersIn(commits, ID_BYTES, COMMIT_BYTES, count)
  }
}

/** Returns `count` numbers of a table. Throws RangeError when the table is too short. */
function numbersIn(table: Buffer, from: number, step: number, count: number): Uint32Array {
  const numbers = new Uint32Array(count)
  for (let at = 0; at < count; at++) numbers[at] = table.readUInt32BE(from + at * step)
  return numbers
}

function graphOf(layers: readonly Layer[]): CommitGraph {
  const newestFirst = [...layers].reverse()
  const layerAt = (at: Position) => newestFirst.find(layer => at >= layer.base) ?? (layers[0] as Layer)
  return {
    size: layers.reduce((sum, { count }) => sum + count, 0),
    find: id => {
      const wanted = Buffer.from(id, 'hex')
      for (const layer of newestFirst) {
        const place = placeIn(layer, wanted)
        if (place !== undefined) return layer.base + place
      }
      return undefined
    },
    idOf: at => hexAt(layerAt(at).ids, (at - layerAt(at).base) * ID_BYTES),
    treeOf: at => hexAt(layerAt(at).commits, (at - layerAt(at).base) * COMMIT_BYTES),
    parentsOf: at => parentsIn(layerAt(at), at),
    dateOf: at => dateIn(layerAt(at), at),
    passUnchanged: (start, keys, most) => {
      let at = start
      let passed = 0
      while (passed < most) {
        const { base, count, parents, filters } = layerAt(at)
        // Without filters every commit may have changed the path. A damaged graph points beyond its own end.
        if (!filters || at - base >= count) break
        for (; passed < most && at >= base && at - base < count; passed++) {
          const parent = parents[at - base] as number
          if (parent === NO_PARENT || filterHolds(filters, at - base, keys)) return { at, passed }
          at = parent
        }
      }
      return { at, passed }
    }
  }
}

function hexAt(bytes: Buffer, from: number): string {
  if (from + ID_BYTES > bytes.length) throw new RangeError('the commit-graph ends before this commit')
  return bytes.toString('hex', from, from + ID_BYTES)
}

function placeIn({ fanout, ids }: Layer, wanted: Buffer): number | undefined {
  const byte = wanted[0] ?? 0
  let low = byte === 0 ? 0 : (fanout[byte - 1] ?? 0)
  let high = fanout[byte] ?? 0
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = wanted.compare(ids, middle * ID_BYTES, (middle + 1) * ID_BYTES)
    if (order === 0) return middle
    if (order > 0) low = middle + 1
    else high = middle
  }
  return undefined
}

function parentsIn({ base, commits, edges }: Layer, at: Position): Position[] {
  const from = (at - base) * COMMIT_BYTES + ID_BYTES
  const [first, second] = [commits.readUInt32BE(from), commits.readUInt32BE(from + 4)]
  if (first === NO_PARENT) return []
  if (second === NO_PARENT) return [first]
  if (second < MORE_PARENTS) return [first, second]
  // A merge of more than two parents: the other parents are in a list, and a bit marks the last one.
  const parents = [first]
  for (let edge = (second - MORE_PARENTS) * 4; ; edge += 4) {
    const next = edges.readUInt32BE(edge)
    parents.push(next % MORE_PARENTS)
    if (next >= MORE_PARENTS) return parents
  }
}

/** The date has 34 bits: the two lowest bits of one number, whose other bits are the generation of the commit, and another number. */
function dateIn({ base, commits }: Layer, at: Position): number {
  const from = (at - base) * COMMIT_BYTES + ID_BYTES + 8
  return (commits.readUInt32BE(from) & 3) * 2 ** 32 + commits.readUInt32BE(from + 4)
}

function filterHolds({ ends, bits, hashes }: Filters, place: number, keys: readonly PathKey[]): boolean {
  const from = place === 0 ? 0 : (ends[place - 1] as number)
  const length = ((ends[place] as number) - from) * 8
  // The filter is empty when the commit changed too many paths or when git computed no filter for it.
  if (length <= 0) return true
  for (const { first, second } of keys) {
    for (let hash = first, left = hashes; left > 0; hash = (hash + second) >>> 0, left--) {
      // Both stay unsigned integers, so that the engine does not have to divide in floating point.
      const bit = (hash >>> 0) % (length >>> 0)
      if (((bits[from + (bit >>> 3)] ?? 0) & (1 << (bit & 7))) === 0) return false
    }
  }
  return true
}

/**
 * Returns the keys of a path and of the folders above it, because a commit that changes a path changes all of them.
 * Returns null when the path is not ASCII.
 */
export function pathKeys(path: string): PathKey[] | null {
  if (!/^[\x20-\x7e]+$/.test(path)) return null
  const parts = path.split('/')
  const paths = parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
  return paths.map(text => {
    const bytes = Buffer.from(text, 'latin1')
    return { first: murmur3(0x293ae76f, bytes), second: murmur3(0x7e646e2c, bytes) }
  })
}

const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by))

/** MurmurHash3 with 32 bits. */
function murmur3(seed: number, bytes: Buffer): number {
  const scramble = (block: number) => Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593)
  let hash = seed
  const whole = bytes.length - (bytes.length % 4)
  for (let at = 0; at < whole; at += 4) {
    hash = (Math.imul(rotate(hash ^ scramble(bytes.readInt32LE(at)), 13), 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let at = bytes.length - 1; at >= whole; at--) rest = (rest << 8) | (bytes[at] ?? 0)
  if (bytes.length > whole) hash ^= scramble(rest)
  hash ^= bytes.length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
