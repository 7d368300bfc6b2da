// The files of a repository that hold objects, and whether they are as git wrote them. Packs, their indexes and the commit graphs end
// with a hash of their content, and the name of a loose object is the hash of its content. So each file is read once, without a
// process: `git fsck` also resolves every delta, and takes ten times as long.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInflate } from 'node:zlib'
import { namesIn } from './size.js'

const LOOSE = /^[0-9a-f]{38}$/
const PACK = /^(pack-[0-9a-f]{40})\.(pack|idx|rev|bitmap|mtimes)$/
const LOOSE_PATH = /^objects\/([0-9a-f]{2})\/([0-9a-f]{38})$/
const SEALED_PATH = /\.(pack|idx|rev|bitmap|mtimes|graph)$|\/commit-graph$/
/** The length of a SHA-1, in bytes. */
const HASH = 20
const PIECE = 1_048_576
/** More faults do not show more about the cause. */
const MOST_FAULTS = 100

/**
 * Lists the files of objects, with paths in the repository. Graphs come first, because they name objects. Packs come last, because
 * git moves loose objects into packs.
 */
export function* objectFiles(repository: string): Generator<string> {
  const list = (folder: string) => namesIn(join(repository, folder)).map(name => `${folder}/${name}`)
  if (namesIn(join(repository, 'objects/info')).includes('commit-graph')) yield 'objects/info/commit-graph'
  const graphs = list('objects/info/commit-graphs').filter(path =>
    /\/(commit-graph-chain|graph-\w+\.graph)$/.test(path)
  )
  yield* graphs.sort()
  for (const folder of namesIn(join(repository, 'objects')).filter(name => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of namesIn(join(repository, 'objects', folder))) {
      if (LOOSE.test(name)) yield `objects/${folder}/${name}`
    }
  }
  const packs = namesIn(join(repository, 'objects/pack'))
  // git writes the index last: a pack without an index is not finished.
  const finished = new Set(packs.filter(name => name.endsWith('.idx')).map(name => name.slice(0, -4)))
  for (const name of packs) if (finished.has(PACK.exec(name)?.[1] ?? '')) yield `objects/pack/${name}`
}

const GRAPH_PATH = /^objects\/info\/(commit-graph|commit-graphs\/(commit-graph-chain|graph-\w+\.graph))$/
const PACK_PATH = /^objects\/pack\/pack-[0-9a-f]{40}\.(pack|idx|rev|bitmap|mtimes)$/

/** Whether a path is that of such a file. */
export const isObjectFile = (path: string): boolean =>
  [LOOSE_PATH, PACK_PATH, GRAPH_PATH].some(pattern => pattern.test(path))

/** Reads all these files of a repository. Returns their faults, one line each, at most 100. */
export async function faultsOfFiles(repository: string, signal?: AbortSignal): Promise<string[]> {
  const faults: string[] = []
  for (const path of objectFiles(repository)) {
    signal?.throwIfAborted()
    const fault = await faultOfFile(repository, path)
    if (fault !== null) faults.push(fault)
    if (faults.length === MOST_FAULTS) break
  }
  return faults
}

/** Codes of a machine that is short of something, or of a process without permission. They say nothing about the file. */
const NO_FAULTS = ['EMFILE', 'ENFILE', 'ENOMEM', 'EACCES', 'EPERM']

/**
 * Returns the fault of one of these files, or null. It reads a file with a fault twice, because memory and shared file systems err,
 * too. A file that no longer exists has no fault: git has moved its objects. Throws what says nothing about the file.
 */
export async function faultOfFile(repository: string, path: string): Promise<string | null> {
  return (await compareFile(repository, path)) && compareFile(repository, path)
}

async function compareFile(repository: string, path: string): Promise<string | null> {
  const whole = join(repository, path)
  const [, folder, name] = LOOSE_PATH.exec(path) ?? []
  try {
    if (folder && name) {
      return (await hashOfLoose(whole)) === folder + name ? null : `error: ${path} is not the object of its name`
    }
    if (!SEALED_PATH.test(path) || (await isSealed(whole))) return null
    return `error: ${path} does not match its checksum`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined || NO_FAULTS.includes(code)) throw error
    // ESTALE: another machine removed the file while this one read it.
    if (code === 'ENOENT' || code === 'ESTALE') return null
    // Errors of node:zlib have codes as well.
    return `error: ${path} cannot be read (${code})`
  }
}

async function hashOfLoose(path: string): Promise<string> {
  const hash = createHash('sha1')
  const source = createReadStream(path)
  const content = source.pipe(createInflate())
  source.once('error', error => content.destroy(error))
  for await (const chunk of content as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

async function isSealed(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const end = (await file.stat()).size - HASH
    if (end < 0) return false
    const hash = createHash('sha1')
    const content = file.createReadStream({
      start: 0,
      end: Math.max(end - 1, 0),
      highWaterMark: PIECE,
      autoClose: false
    })
    if (end > 0) for await (const chunk of content as AsyncIterable<Buffer>) hash.update(chunk)
    const seal = Buffer.alloc(HASH)
    const { bytesRead } = await file.read(seal, 0, HASH, end)
    return bytesRead === HASH && hash.digest().equals(seal)
  } finally {
    await file.close()
  }
}
