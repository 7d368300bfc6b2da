// Finds, reads and removes the files of old records.
import { createInterface } from 'node:readline'
import type { Origin } from '../../../access/actor.js'
import { execute, marks, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Failure, NoSuch } from '../../../errors.js'
import {
  openRecords,
  RECORD_KINDS,
  type RecordKind,
  removeRecords,
  type StoredRecords,
  storedRecords
} from '../../../storage/records.js'
import { audit, changesBetween } from '../audit/audit.js'

export const ARCHIVED_KINDS = RECORD_KINDS

export interface ArchivedFile {
  readonly id: number
  readonly kind: RecordKind
  readonly month: string
  readonly project_id: number | null
  /** The path of the project now; null for records of no project. */
  readonly project: string | null
  readonly author_id: number | null
  readonly records: number
  /** Bytes, compressed. */
  readonly bytes: number
  /** The path below the home, and the name of the object in a bucket. */
  readonly name: string
  readonly created_at: Date
}

export interface FileFilter {
  readonly kind?: string | undefined
  readonly month?: string | undefined
  readonly projectId?: number | undefined
}

const COLUMNS = `f.id, f.kind, f.month, f.project_id, concat(n.path, '/', p.path) as project, f.author_id, f.records, f.bytes, f.name,
  f.created_at`
const TABLES =
  'archived_files f left join projects p on p.id = f.project_id left join namespaces n on n.id = p.namespace_id'

function conditionOf({ kind, month, projectId }: FileFilter): { sql: string; values: Value[] } {
  const parts: [sql: string, value: Value | undefined][] = [
    ['f.kind = ?', kind],
    ['f.month = ?', month],
    ['f.project_id = ?', projectId]
  ]
  const given = parts.filter((part): part is [string, Value] => part[1] !== undefined)
  return { sql: ['true', ...given.map(([sql]) => sql)].join(' and '), values: given.map(([, value]) => value) }
}

/** Returns files in the order in which they were written, after the file `last`. */
export function listFiles(filter: FileFilter, limit: number, last = 0): Promise<ArchivedFile[]> {
  const { sql, values } = conditionOf(filter)
  return rows<ArchivedFile>(
    `select ${COLUMNS} from ${TABLES} where ${sql} and f.id > ? order by f.id limit ${Math.trunc(limit)}`,
    [...values, last]
  )
}

export async function countFiles(filter: FileFilter): Promise<number> {
  const { sql, values } = conditionOf(filter)
  const found = await row<{ total: number }>(`select count(*) as total from archived_files f where ${sql}`, values)
  return Number(found?.total ?? 0)
}

/** Returns a file. Throws NotFound. */
export async function requireFile(id: number): Promise<ArchivedFile> {
  const file = await row<ArchivedFile>(`select ${COLUMNS} from ${TABLES} where f.id = ?`, [id])
  if (!file) throw new NoSuch('archived file', id)
  return file
}

export const viewFile = ({ bytes, project, project_id, author_id, ...file }: ArchivedFile) => ({
  ...file,
  project_id,
  project,
  author_id,
  bytes: Number(bytes)
})

/** Deletes a file with its records. If the process is killed, the file is missing, and the next call deletes its row. */
export async function deleteFile({ id, name, kind, month, records }: ArchivedFile, origin: Origin): Promise<void> {
  await removeRecords(name)
  await transact(async () => {
    await execute('delete from archived_files where id = ?', [id])
    const before = { kind, month, records }
    const target = { type: 'archived_file', id, name }
    await audit(origin, { action: 'archived_file.delete', target, changes: changesBetween(before, null) })
  })
}

/** Yields the lines of a file. Throws NotFound, and Failure for a file that is missing or damaged. */
export async function* linesOf(id: number): AsyncGenerator<string> {
  const file = await requireFile(id)
  const text = await openRecords(file.name)
  if (!text) throw new Failure(`${file.name} is missing: restore it from a backup`)
  try {
    // readline would end without an error when the stream fails.
    const failed = new Promise<never>((_, reject) => text.once('error', reject))
    failed.catch(() => undefined)
    const lines = createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
    for (;;) {
      const { value, done } = await Promise.race([lines.next(), failed])
      if (done) break
      yield value
    }
    if (text.errored) throw text.errored
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_'))
      throw new Failure(`${file.name} is damaged: restore it from a backup`)
    throw error
  } finally {
    text.destroy()
  }
}

/** Removes files of a project or user that is removed, before their rows. May run twice for the same files. */
export async function removeFiles(ids: readonly number[]): Promise<void> {
  const found = await rows<{ name: string }>(`select name from archived_files where id in (${marks(ids)})`, ids)
  for (const { name } of found) await removeRecords(name)
}

/** Finds files without a row that last changed before the given time, in milliseconds since 1970. */
export async function orphanedRecords(before: number): Promise<{ paths: readonly string[]; looked: number }> {
  const paths: string[] = []
  let looked = 0
  for await (const batch of storedRecords()) {
    looked += batch.length
    const names = batch.map(({ name }) => name)
    const known = await namesWithRow(names)
    paths.push(
      ...batch
        .filter(({ name, changed }: StoredRecords) => changed < before && !known.has(name))
        .map(({ name }) => name)
    )
  }
  return { paths, looked }
}

/** Returns those names that have a row. */
async function namesWithRow(names: readonly string[]): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set()
  const found = await rows<{ name: string }>(`select name from archived_files where name in (${marks(names)})`, [
    ...names
  ])
  return new Set(found.map(({ name }) => name))
}
