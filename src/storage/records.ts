// Stores old records that have left the database: compressed files of lines, which never change.
import { randomUUID } from 'node:crypto'
import { opendir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { config } from '../config.js'
import { openBlob, putBlob, removeBlob, sizeOfBlob } from './blobs.js'
import { type CopiedStream, isMissing } from './files.js'
import { hasBucket } from './places.js'
import { listObjects } from './s3.js'

export const RECORD_KINDS = ['builds', 'events', 'deliveries'] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** The path below the home, and the name of the object. Records of no project are in the folder 0. */
export const RECORDS_NAME = /^records\/\d{1,10}\/(builds|events|deliveries)-\d{4}-\d{2}-[0-9a-f-]{36}\.jsonl\.gz$/

export const newRecordsName = (kind: RecordKind, month: string, project: number | null): string =>
  `records/${project ?? 0}/${kind}-${month}-${randomUUID()}.jsonl.gz`

/** Stores lines in a new file. It is complete and on the disk, or in the bucket, when the promise resolves. */
export function putRecords(name: string, lines: AsyncIterable<string> | Iterable<string>): Promise<CopiedStream> {
  const text = Readable.from(endedLines(lines), { objectMode: false })
  const source = createGzip()
  text.on('error', error => source.destroy(error))
  source.on('close', () => text.destroy())
  text.pipe(source)
  return putBlob({ kind: 'records', name, source, limit: Number.POSITIVE_INFINITY })
}

/** Stores a file again that was lost, from a copy. */
export const putRecordsFile = (name: string, from: string): Promise<CopiedStream> =>
  putBlob({ kind: 'records', name, source: from, limit: Number.POSITIVE_INFINITY })

async function* endedLines(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

/** Returns the text of a file; undefined when there is none. Destroy the stream unless you read it to its end. */
export async function openRecords(name: string): Promise<Readable | undefined> {
  const found = await openBlob(name)
  if (!found) return undefined
  const text = createGunzip()
  found.stream.on('error', error => text.destroy(error))
  text.on('close', () => found.stream.destroy())
  return found.stream.pipe(text)
}

export const sizeOfRecords = (name: string): Promise<number | undefined> => sizeOfBlob(name)
export const removeRecords = (name: string): Promise<void> => removeBlob(name)

export interface StoredRecords {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since 1970. */
  readonly changed: number
}

/** Yields the files on the disk, and then those in the bucket, in batches. It ignores files with other names. */
export async function* storedRecords(): AsyncGenerator<StoredRecords[]> {
  yield* localRecords()
  if (!hasBucket()) return
  for await (const page of listObjects('records/')) yield page.filter(({ name }) => RECORDS_NAME.test(name))
}

/** Yields the files on the disk, in batches. */
export async function* localRecords(): AsyncGenerator<StoredRecords[]> {
  const BATCH = 1000
  const root = join(config().home, 'records')
  for (const project of (await readdir(root).catch(unlessMissing)) ?? []) {
    const folder = await opendir(join(root, project)).catch(unlessMissing)
    if (!folder) continue
    let batch: StoredRecords[] = []
    for await (const entry of folder) {
      const name = `records/${project}/${entry.name}`
      if (!entry.isFile() || !RECORDS_NAME.test(name)) continue
      const found = await stat(join(config().home, name)).catch(unlessMissing)
      if (found) batch.push({ name, size: found.size, changed: Math.max(found.mtimeMs, found.ctimeMs) })
      if (batch.length < BATCH) continue
      yield batch
      batch = []
    }
    yield batch
  }
}

function unlessMissing(error: unknown): undefined {
  // A file next to the folders of projects is nobody's.
  if (!isMissing(error) && (error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
}
