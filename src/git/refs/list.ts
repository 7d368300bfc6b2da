// Lists the refs of a repository as git advertises them, without a process. Folders and packed-refs that have not changed since
// the last call are not read again: git replaces files by renaming, which changes the time of their folder.
import { type BigIntStats, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { mapBounded } from '../../lib/bounded.js'
import { readTag } from '../objects/objects.js'
import { objectInfo } from '../objects/reader.js'
import { aboutFile, isMissing, readNow } from '../objects/stat.js'
import { isHidden } from './hidden.js'

export interface ListedRef {
  /** The full name, in latin1: byte for byte, because git defines no encoding for names. */
  readonly name: string
  readonly id: string
  /** The object that an annotated tag finally points at. */
  readonly peeled: string | null
}

export interface RefList {
  /** Sorted by the bytes of their names, without the hidden refs. */
  readonly refs: readonly ListedRef[]
  /** The branch that HEAD names (null when HEAD contains a commit id), and the ref that HEAD resolves to (null for an unborn branch). */
  readonly head: { readonly target: string | null; readonly ref: ListedRef | null }
}

interface Folder {
  readonly stamp: string
  /** False when the folder changed so recently that a later change might have the same time. */
  readonly settled: boolean
  readonly files: ReadonlyMap<string, string>
  readonly folders: readonly string[]
}

interface Packed {
  readonly stamp: string
  readonly settled: boolean
  /** Maps names to ids, and to the objects that tags point at; undefined where the file does not contain that object. */
  readonly refs: ReadonlyMap<string, { readonly id: string; readonly peeled: string | null | undefined }>
}

interface Known {
  readonly folders: ReadonlyMap<string, Folder>
  readonly packed: Packed
  /** The objects that the ids of refs point at, as far as they are known. */
  readonly peeled: ReadonlyMap<string, string | null>
  readonly refs: readonly ListedRef[]
}

/**
 * The repository contains something that git understands and this file does not, such as a symbolic ref other than
 * HEAD. The caller asks git instead.
 */
class Unusual extends Error {}

/** The coarsest timestamps of a file system in use, in nanoseconds. */
const SETTLED_AFTER = 2_000_000_000n
const AT_ONCE = 64
/** Up to this many files are read synchronously, while other requests wait: through another thread, each file takes ten times as long. */
const FEW = 100
/** The maximum number of refs of all repositories together; each takes about 300 bytes. */
const MOST_REFS = 200_000
/** The maximum size of packed-refs in bytes, about 400,000 refs: a larger file would keep this process busy for too long. */
const MOST_PACKED = 32 * 1024 * 1024

const known = new LRUCache<string, Known>({ maxSize: MOST_REFS, sizeCalculation: ({ refs }) => refs.length + 10 })

const NOTHING: Known = {
  folders: new Map(),
  packed: { stamp: '', settled: false, refs: new Map() },
  peeled: new Map(),
  refs: []
}

/** Returns the refs of a repository, or null when the caller must ask git, because something is unusual or damaged. */
export async function listEveryRef(repository: string): Promise<RefList | null> {
  try {
    // Loose refs are read before packed refs. Git writes them in the other order, so that no ref is missing in both places.
    const head = readFileSync(join(repository, 'HEAD'), 'latin1').trim()
    const before = known.get(repository) ?? NOTHING
    const folders = new Map<string, Folder>()
    await lookInto(repository, 'refs', before.folders, folders)
    const packed = await readPacked(repository, before.packed)
    const refs = isSame(before, folders, packed) ? before.refs : await merge(repository, before, folders, packed)
    return { refs, head: headOf(head, refs) }
  } catch (error) {
    if (error instanceof Unusual || isMissing(error)) return null
    throw error
  }
}

/** Drops everything that is known about one repository, or about all repositories. */
export function forgetRefs(repository?: string): void {
  if (repository === undefined) known.clear()
  else known.delete(repository)
}

const stampOf = ({ ino, mtimeNs, ctimeNs, size }: BigIntStats) => `${ino} ${mtimeNs} ${ctimeNs} ${size}`
const isSettled = ({ ctimeNs }: BigIntStats) => BigInt(Date.now()) * 1_000_000n - ctimeNs > SETTLED_AFTER

async function lookInto(
  repository: string,
  folder: string,
  before: ReadonlyMap<string, Folder>,
  found: Map<string, Folder>
): Promise<void> {
  const path = join(repository, folder)
  const about = aboutFile(path)
  if (!about) return
  const last = before.get(folder)
  const now = last?.settled && last.stamp === stampOf(about) ? last : await readFolder(path, about)
  found.set(folder, now)
  await Promise.all(now.folders.map(name => lookInto(repository, `${folder}/${name}`, before, found)))
}

async function readFolder(path: string, about: BigIntStats): Promise<Folder> {
  const files = new Map<string, string>()
  const folders: string[] = []
  const entries = (await readdir(path, { withFileTypes: true }).catch(ignoreMissing)) ?? []
  const names: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.') || entry.name.endsWith('.lock')) continue
    if (/[\x00-\x20\x7f~^:?*[\\\ufffd]|\.\.|@\{|\.$/.test(entry.name)) throw new Unusual()
    if (entry.isDirectory()) folders.push(entry.name)
    else if (entry.isFile()) names.push(entry.name)
    else throw new Unusual()
  }
  const take = (name: string, text: string | undefined) => {
    if (text === undefined) return // deleted, or packed: then packed-refs contains it
    const id = /^([0-9a-f]{40})\s*$/.exec(text)?.[1]
    if (!id) throw new Unusual()
    files.set(name, id)
  }
  if (names.length <= FEW) for (const name of names) take(name, readNow(join(path, name), 'latin1'))
  else {
    await mapBounded(names, AT_ONCE, async name =>
      take(name, await readFile(join(path, name), 'latin1').catch(ignoreMissing))
    )
  }
  return { stamp: stampOf(about), settled: isSettled(about), files, folders }
}

function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error
  return undefined
}

async function readPacked(repository: string, last: Packed): Promise<Packed> {
  const path = join(repository, 'packed-refs')
  const about = aboutFile(path)
  if (!about) return { stamp: 'none', settled: true, refs: new Map() }
  const stamp = stampOf(about)
  if (last.settled && last.stamp === stamp) return last
  if (about.size > MOST_PACKED) throw new Unusual()
  return { stamp, settled: isSettled(about), refs: parsePacked(await readFile(path, 'latin1')) }
}

function parsePacked(text: string): Packed['refs'] {
  const refs = new Map<string, { id: string; peeled: string | null | undefined }>()
  const [header = ''] = text.split('\n', 1)
  const peeled = /^# pack-refs with:.* fully-peeled /.test(`${header} `) ? null : undefined
  let last = ''
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const own = refs.get(last)
    if (line.startsWith('^') && own) {
      refs.set(last, { id: own.id, peeled: line.slice(1, 41) })
      continue
    }
    const [, id, name] = /^([0-9a-f]{40}) (refs\/.+)$/.exec(line) ?? []
    if (!id || !name) throw new Unusual()
    refs.set(name, { id, peeled })
    last = name
  }
  return refs
}

function isSame(before: Known, folders: ReadonlyMap<string, Folder>, packed: Packed): boolean {
  if (before.packed !== packed && !(packed.stamp === 'none' && before.packed.stamp === 'none')) return false
  if (before.folders.size !== folders.size) return false
  for (const [name, folder] of folders) if (before.folders.get(name) !== folder) return false
  return true
}

async function merge(
  repository: string,
  before: Known,
  folders: ReadonlyMap<string, Folder>,
  packed: Packed
): Promise<readonly ListedRef[]> {
  const all = new Map(packed.refs)
  for (const [folder, { files }] of folders) {
    const prefix = Buffer.from(folder, 'utf8').toString('latin1')
    for (const [name, id] of files) {
      const full = `${prefix}/${Buffer.from(name, 'utf8').toString('latin1')}`
      if (all.get(full)?.id !== id) all.set(full, { id, peeled: undefined })
    }
  }
  const visible = [...all].filter(([name]) => !isHidden(name))
  const open = visible.filter(([, { peeled }]) => peeled === undefined).map(([, { id }]) => id)
  const peeled = await peel(repository, [...new Set(open)], before.peeled)
  const refs = visible
    .map(([name, ref]) => ({ name, id: ref.id, peeled: ref.peeled ?? peeled.get(ref.id) ?? null }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  known.set(repository, { folders, packed, peeled, refs })
  return refs
}

/** Throws Unusual when an object is missing: git omits such a ref, and reports it on stderr. */
async function peel(
  repository: string,
  ids: readonly string[],
  before: Known['peeled']
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>()
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const part = ids.slice(at, at + AT_ONCE)
    const targets = await Promise.all(part.map(id => before.get(id) ?? peelOne(repository, id)))
    for (const [index, id] of part.entries()) found.set(id, targets[index] ?? null)
  }
  return found
}

/** The maximum depth of tags of tags. Nobody nests more, but one push can contain a chain of a million. */
const MOST_NESTED = 100

async function peelOne(repository: string, id: string): Promise<string | null> {
  let object = await objectInfo(repository, id)
  if (!object) throw new Unusual()
  if (object.type !== 'tag') return null
  for (let depth = 0; object?.type === 'tag'; depth++) {
    if (depth === MOST_NESTED) return null
    const tag = await readTag(repository, object.id)
    object = tag && (await objectInfo(repository, tag.targetId))
  }
  if (!object) throw new Unusual()
  return object.id
}

function headOf(text: string, refs: readonly ListedRef[]): RefList['head'] {
  if (/^[0-9a-f]{40}$/.test(text)) return { target: null, ref: { name: 'HEAD', id: text, peeled: null } }
  const target = /^ref: (refs\/.+)$/.exec(text)?.[1]
  if (!target || isHidden(target)) throw new Unusual()
  const found = find(refs, target)
  return { target, ref: found && { ...found, name: 'HEAD' } }
}

/** Returns the ref with a full name from a sorted list. */
function find(refs: readonly ListedRef[], name: string): ListedRef | null {
  let [low, high] = [0, refs.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((refs[middle]?.name ?? '') < name) low = middle + 1
    else high = middle
  }
  const found = refs[low]
  return found?.name === name ? found : null
}
