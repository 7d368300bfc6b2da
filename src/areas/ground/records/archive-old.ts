// Moves old records from the database into files, for each kind that `archive` of the configuration names:
//   1. pages of the table give the numbers of records of whole months that have ended long enough ago
//   2. they are grouped by project, user and month, so that a file leaves with its project or user
//   3. a batch of a group is read, and written into a new file, which never changes
//   4. one transaction looks again whether the rows are unchanged, deletes them, and adds the row of the file
// So each record is in the table or in a file that counts, whenever the process is killed. A file without a row does not count, and
// orphaned_files removes it after a day.
import { config } from '../../../config.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { batches } from '../../../lib/batches.js'
import { daysAgo, type TaskContext } from '../../../queue/task.js'
import type { CopiedStream } from '../../../storage/files.js'
import { newRecordsName, putRecords, type RecordKind, removeRecords } from '../../../storage/records.js'

/** Rows that one statement looks at, and numbers that the process holds until it groups them. */
export const PAGE = 1000
const HELD = 100_000
/** A run begins no batch after this time, because other tasks of the queue wait. The next run continues. */
const TIME_MS = 1_200_000
/** Far less than the day after which orphaned_files removes a file without a row. */
const LATE_MS = 3_600_000

export interface Candidate {
  readonly id: number
  readonly project_id: number | null
  /** The user to whom the record belongs, besides its project. */
  readonly author_id: number | null
  readonly created_at: Date
  /** 0 for a record that is still needed. */
  readonly leaves: number
}

export interface Source<Records> {
  readonly kind: RecordKind
  /** How many records are in one file, and leave in one transaction. */
  readonly atOnce: number
  /** Returns at most PAGE rows after a number, in the order of the numbers. Records made before `before` may leave. */
  page(after: number, before: Date): Promise<readonly Candidate[]>
  /** Reads everything that the file gets from the database. `lock` is empty or `for update`. */
  read(ids: readonly number[], lock: string): Promise<Records>
  lines(records: Records): AsyncIterable<string> | Iterable<string>
  /** Deletes the rows. It runs in a transaction. */
  remove(ids: readonly number[], records: Records): Promise<void>
  /** Removes what is outside of the database. A killed process never comes here. */
  clean?(records: Records): Promise<void>
}

interface Group {
  readonly project: number | null
  readonly author: number | null
  /** Such as 2026-03. */
  readonly month: string
  readonly ids: readonly number[]
}

/** Somebody has changed a record since it was read, or has removed its project or user. */
class ChangedSince extends Error {}

/** Archives the old records of a kind, if the configuration says so. A dry run only counts them. */
export async function archiveOld<Records>(
  source: Source<Records>,
  context: TaskContext
): Promise<Readonly<Record<string, number>> | undefined> {
  const days = config().archive[source.kind]
  if (days === null) return undefined
  const before = startOfMonth(daysAgo(days))
  const end = Date.now() + TIME_MS
  const figures = { files: 0, changed: 0 }
  for (let after: number | undefined = 0; after !== undefined; ) {
    const found: Found = await candidatesAfter(source, after, before, context.signal)
    for (const group of groupsOf(found.candidates)) {
      for (const ids of batches(group.ids, source.atOnce)) {
        context.signal.throwIfAborted()
        if (Date.now() > end) return figures
        if (context.dryRun) context.count(ids.length)
        else await archiveBatch(source, { ...group, ids }, context, figures)
      }
    }
    after = found.next
  }
  return figures
}

/** Months end at midnight UTC. Whole months make few files, and names that people can search. */
const startOfMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()))

interface Found {
  readonly candidates: readonly Candidate[]
  /** The number after which to continue; undefined at the end. */
  readonly next: number | undefined
}

/**
 * Numbers follow the order of time, so the search ends at the first page without an old record. A record that was imported with an
 * older date has a later number, and leaves when the records around it do.
 */
async function candidatesAfter(
  { page }: Pick<Source<unknown>, 'page'>,
  after: number,
  before: Date,
  signal: AbortSignal
): Promise<Found> {
  const candidates: Candidate[] = []
  for (let last = after; ; ) {
    signal.throwIfAborted()
    const found = await page(last, before)
    const old = found.filter(({ created_at }) => created_at < before)
    candidates.push(...old.filter(({ leaves }) => Number(leaves) === 1))
    last = found.at(-1)?.id ?? last
    if (found.length < PAGE || old.length === 0) return { candidates, next: undefined }
    if (candidates.length >= HELD) return { candidates, next: last }
  }
}

function groupsOf(candidates: readonly Candidate[]): Group[] {
  const keyOf = ({ project_id, author_id, created_at }: Candidate) =>
    `${project_id} ${author_id} ${created_at.toISOString().slice(0, 7)}`
  return [...Map.groupBy(candidates, keyOf).values()].flatMap(records => {
    const [first] = records
    if (!first) return []
    const month = first.created_at.toISOString().slice(0, 7)
    return [{ project: first.project_id, author: first.author_id, month, ids: records.map(({ id }) => id) }]
  })
}

async function archiveBatch<Records>(
  source: Source<Records>,
  group: Group,
  { count, note }: TaskContext,
  figures: { files: number; changed: number }
): Promise<void> {
  const records = await source.read(group.ids, '')
  const name = newRecordsName(source.kind, group.month, group.project)
  const stored = await putRecords(name, source.lines(records))
  const late = Date.now() + LATE_MS
  try {
    await transact(async () => {
      await requireOwners(group)
      if (JSON.stringify(await source.read(group.ids, 'for update')) !== JSON.stringify(records))
        throw new ChangedSince()
      await source.remove(group.ids, records)
      await insertFile(source.kind, group, { name, ...stored })
      if (Date.now() > late) throw new ChangedSince()
    })
  } catch (error) {
    // After any other error, the transaction may have been committed: the file stays, and orphaned_files looks for its row.
    if (!(error instanceof ChangedSince)) throw error
    await removeRecords(name)
    figures.changed += group.ids.length
    note(
      `${source.kind} ${group.ids[0]} to ${group.ids.at(-1)} have changed, or lost their project or user: they stay for now`
    )
    return
  }
  await source.clean?.(records)
  figures.files += 1
  count(group.ids.length)
}

/** The removal of a project or user deletes this row first, and then looks for the files. So no file comes later. */
async function requireOwners({ project, author }: Group): Promise<void> {
  const lock = 'lock in share mode'
  if (project !== null && !(await row(`select id from projects where id = ? ${lock}`, [project])))
    throw new ChangedSince()
  if (author !== null && !(await row(`select id from users where id = ? ${lock}`, [author]))) throw new ChangedSince()
}

async function insertFile(
  kind: RecordKind,
  { project, author, month, ids }: Group,
  { name, size, sha256 }: CopiedStream & { readonly name: string }
): Promise<void> {
  await execute(
    `insert into archived_files (kind, month, project_id, author_id, name, records, bytes, sha256, created_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [kind, month, project, author, name, ids.length, size, sha256, new Date()]
  )
}
