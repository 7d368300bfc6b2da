// The files that texts name. Each is downloaded once, and becomes an upload whose secret nobody can guess from its URL.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { config } from '../../../config.js'
import { signature } from '../../../secrets.js'
import { SourceFailure, SourceRefusal } from '../../projects/imports/source-failures.js'
import { ahead } from '../sources/ahead.js'
import type { Client } from '../sources/client.js'
import type { Skipped, SourceFile } from '../sources/source.js'

const AT_ONCE = 4
/** After so many failures in a row, the other files are left to the next run: each attempt may take long. */
const MOST_FAILURES = 10

export interface KeptFile {
  readonly url: string
  readonly secret: string
  readonly name: string
  readonly path: string
  /** Bytes. */
  readonly size: number
}

class TooLargeFile extends Error {}

/** Returns the place of a file among the uploads of its project. */
export function uploadOf(
  project: string,
  { url, name }: SourceFile
): { readonly secret: string; readonly name: string } {
  const secret = signature('uploads of a migration', `${project}\n${url}`).toString('hex').slice(0, 32)
  const plain = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_.+-]+/g, '_')
    .replace(/^\.+/, '')
  const end = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? ''
  return { secret, name: `${plain.slice(0, plain.length - end.length).slice(0, 180) || 'file'}${end}` }
}

export interface Downloaded {
  /** By URL. */
  readonly kept: ReadonlyMap<string, KeptFile>
  /** The URLs of those that the source may still give: it failed. */
  readonly broken: readonly string[]
}

/** Downloads the files that are not in the folder yet. Returns those that are there then. */
export async function downloadFiles(
  client: Client,
  files: ReadonlyMap<string, SourceFile>,
  { folder, project, skipped }: { readonly folder: string; readonly project: string; readonly skipped: Skipped }
): Promise<Downloaded> {
  const { max_size: most, max_files: mostFiles } = config().uploads
  const kept = new Map<string, KeptFile>()
  const broken: string[] = []
  let [left, failures] = [most, 0]
  await mkdir(folder, { recursive: true, mode: 0o700 })
  /** Why the file does not come along; null when it does. */
  const problemOf = (size: number): string | null => {
    if (size > left) return 'the uploads of the project would have too many bytes (uploads.max_size)'
    return kept.size >= mostFiles ? 'the project would have too many uploads (uploads.max_files)' : null
  }
  const fetched = ahead(files.values(), AT_ONCE, async file => {
    // Otherwise a hostile source would fill the disk with files that are not kept.
    const problem = problemOf(1)
    if (problem !== null) skipped('files', problem)
    if (problem !== null) return null
    const path = join(folder, createHash('sha256').update(file.url).digest('hex'))
    const failed = (why: string) => {
      skipped('files', why)
      broken.push(file.url)
      failures++
      return null
    }
    const known = await sizeOf(path)
    if (known === undefined && failures >= MOST_FAILURES) return failed('the source failed several times in a row')
    const size = known ?? (await download(client, file, { path, most: left, skipped, failed }))
    if (size === null) return null
    failures = 0
    return { url: file.url, ...uploadOf(project, file), path, size }
  })
  for await (const file of fetched) {
    const problem = file && problemOf(file.size)
    if (problem) skipped('files', problem)
    if (!file || problem) continue
    kept.set(file.url, file)
    left -= file.size
  }
  return { kept, broken }
}

const sizeOf = async (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined
  )

interface Place {
  readonly path: string
  /** Bytes. */
  readonly most: number
  readonly skipped: Skipped
  /** Notes a failure that another run may not have. */
  readonly failed: (why: string) => null
}

/** Returns the size; null for a file that does not come along. */
async function download(
  client: Client,
  file: SourceFile,
  { path, most, skipped, failed }: Place
): Promise<number | null> {
  const draft = `${path}.draft`
  try {
    const size = await client.file(file, stream => store(stream, draft, most))
    if (size === null) skipped('files', 'the source does not have them any more, or does not show them')
    else await rename(draft, path)
    return size
  } catch (error) {
    if (error instanceof TooLargeFile)
      skipped('files', 'larger than all uploads of a project may be (uploads.max_size)')
    else if (error instanceof SourceRefusal) skipped('files', error.problem)
    else if (error instanceof SourceFailure) return failed(error.problem)
    else throw error
    return null
  } finally {
    await rm(draft, { force: true })
  }
}

async function store(stream: Readable, path: string, most: number): Promise<number> {
  let size = 0
  const meter = new Transform({
    transform: (chunk: Buffer, _, done) => {
      size += chunk.length
      done(size > most ? new TooLargeFile() : null, chunk)
    }
  })
  await pipeline(stream, meter, createWriteStream(path, { mode: 0o600 }))
  return size
}

/** The first bytes of pictures that a project may have, in hex. */
const PICTURES: readonly (readonly [bytes: RegExp, ending: string])[] = [
  [/^89504e470d0a1a0a/, '.png'],
  [/^ffd8ff/, '.jpg'],
  [/^47494638/, '.gif'],
  [/^52494646.{8}57454250/, '.webp']
]

/** Returns a file as the picture of a project, with the ending of its content or else of its name; null for other files. */
export async function asPicture(file: KeptFile | undefined): Promise<KeptFile | null> {
  if (!file) return null
  const handle = await open(file.path)
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(12) })
    const start = buffer.subarray(0, bytesRead).toString('hex')
    const named = /\.(?:png|jpe?g|gif|webp)$/i.exec(file.name)?.[0]
    const ending = PICTURES.find(([bytes]) => bytes.test(start))?.[1] ?? named
    if (ending === undefined) return null
    return named === undefined ? { ...file, name: `avatar${ending}` } : file
  } finally {
    await handle.close()
  }
}
