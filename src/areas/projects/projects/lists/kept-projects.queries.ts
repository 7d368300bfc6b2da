// Keeps the rows that lists of projects show. A list reads only what proves them: the version of each row, and the version of what
// records show of its issues, its namespace and its owner (db/connect/content.ts). If these are the same as when the row was read,
// nothing has changed that the record shows, in this process or another one. Only other rows are read again.
//
// 20 rows of the 50 columns took 0.1 ms of this process, their records and their JSON 0.3 ms more; and the database joined two more
// tables. What depends on the caller, such as levels, is read for each request.
//
// The database sets the version of a row: the time, in microseconds, of the statement that changes it. Two statements that begin in the
// same microsecond leave the same version. Only a row that is read between their commits could then be shown until `KEEP_MS` has passed.
import { LRUCache } from 'lru-cache'
import { type Actor, nobody } from '../../../../access/actor.js'
import { countShares, type Membership, membershipOf } from '../../../../access/membership.js'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { VERSION, type Versions } from '../../../../db/connect/content.js'
import { currentTransaction } from '../../../../db/connect/scope.js'
import { type Fragment, marks, padded, rows } from '../../../../db/connect/sql.js'
import type { RecordText } from '../../../../db/lists/paginate.js'
import { memoryOf } from '../../../../lib/bytes.js'
import { MACHINE_MEMORY, shareOf } from '../../../../lib/machine-memory.js'
import { readProjectRows, type ShownProjectRow, selectShownProjects } from '../projects.queries.js'

/** What a list reads of a project for its caller. */
interface Levels {
  readonly id: number
  readonly access_level: number | null
  readonly project_access_level: number | null
  readonly group_access_level: number | null
  readonly project_notification_level: number | null
  readonly group_notification_level: number | null
}

/** What proves a row. */
interface Proof extends Versions {
  /** The time of the statement that has last changed the row. */
  readonly row_version: string
}

/** A project of a list. */
export interface ListedProject extends Levels {
  readonly has_shares: number
  readonly kept: KeptProject
}

export interface KeptProject {
  /** Its levels are not those of the caller. */
  readonly row: ShownProjectRow
  readonly proof: Proof
  /** By `Date.now()`. */
  readonly until: number
  /** The JSON of the record, by what the caller's level lets it show. */
  readonly texts: Map<string, RecordText>
}

const MIB = 2 ** 20
const SHARE = { part: 1 / 256, least: 8 * MIB, most: 128 * MIB }
/** Bytes for the object of a row and its entry, without its texts. */
const OBJECT = 2000
/** Most callers are not members, or have one of five levels. */
const MOST_TEXTS = 8
/** Milliseconds. It limits the effect of rows of other tables that were changed without the product, such as by hand. */
const KEEP_MS = 300_000

const kept = new LRUCache<number, KeptProject>({ maxSize: shareOf(MACHINE_MEMORY, SHARE), sizeCalculation: bytesOf })
forgetWithPool(() => kept.clear())

function bytesOf({ row, texts }: KeptProject): number {
  let bytes = OBJECT
  for (const value of Object.values(row)) if (typeof value === 'string') bytes += memoryOf(value)
  for (const { text } of texts.values()) bytes += memoryOf(text)
  return bytes
}

/** Keeps a text of the record of a project that is still kept. */
export function keepText(project: KeptProject, variant: string, text: RecordText): void {
  const { texts, row } = project
  if (texts.size >= MOST_TEXTS) texts.clear()
  texts.set(variant, text)
  if (kept.peek(row.id) !== project) return
  // The cache takes the size of a value only when it adds it.
  kept.delete(row.id)
  kept.set(row.id, project)
}

const NOBODY = membershipOf(nobody)
/** As text: a date of the driver has no microseconds. */
const PROOF = `cast(p.row_version as char) as row_version, ${VERSION.columns}`

/**
 * Returns the beginning of a statement that reads projects `p` for `readListed`; `more` are additional columns. The columns of the
 * levels come with `membership`.
 */
export const selectListed = ({ columns, shown, joins }: Membership, from: string, more = '') =>
  `select p.id, ${columns}, ${shown}, ${PROOF}${more} from ${from} ${VERSION.joins} ${joins}`

/** Reads projects by such a statement. Only projects that are not kept take a second one, and those that have shares another. */
export async function readListed<More extends object>(
  { sql, values }: Fragment,
  { withoutShares }: Membership,
  actor: Actor
): Promise<(ListedProject & More)[]> {
  const found = await rows<Levels & Proof & More>(sql, values)
  const known = found.map(keptOf)
  const read = await readMissing(found.filter((_, at) => !known[at]).map(({ id }) => id))
  // A project that was removed between both statements is not listed.
  const listed = found.flatMap((levels, at) => {
    const project = known[at] ?? read.get(levels.id)
    return project ? [Object.assign(levels, { kept: project, has_shares: project.row.has_shares })] : []
  })
  if (withoutShares) await countShares(actor.user?.id ?? 0, listed)
  return listed
}

/** Returns a project of a list as a row with the levels of the caller. */
export const rowOf = ({ kept: { row }, ...listed }: ListedProject): ShownProjectRow => ({
  ...row,
  access_level: listed.access_level,
  project_access_level: listed.project_access_level,
  group_access_level: listed.group_access_level,
  project_notification_level: listed.project_notification_level,
  group_notification_level: listed.group_notification_level
})

function keptOf({ id, row_version, project_version: own, all_version: all }: Levels & Proof): KeptProject | undefined {
  const project = kept.get(id)
  if (!project || Date.now() > project.until) return undefined
  const { proof } = project
  return proof.row_version === row_version && proof.project_version === own && proof.all_version === all
    ? project
    : undefined
}

const WIDE = selectShownProjects(NOBODY, `projects p ${VERSION.joins}`, `, ${PROOF}`)

/** Reads rows with what proves them, in one statement: they may have changed since the list was read. */
async function readMissing(ids: readonly number[]): Promise<ReadonlyMap<number, KeptProject>> {
  const read = new Map<number, KeptProject>()
  if (ids.length === 0) return read
  const until = Date.now() + KEEP_MS
  const list = padded(ids)
  const statement = { sql: `${WIDE} where p.id in (${marks(list)})`, values: list }
  const found = await readProjectRows<ShownProjectRow & Proof>(statement, NOBODY, nobody)
  for (const { row_version, project_version, all_version, ...whole } of found) {
    // The buffer of the driver holds all rows.
    const row = { ...whole, runners_token_encrypted: Buffer.from(whole.runners_token_encrypted) }
    const project = { row, proof: { row_version, project_version, all_version }, until, texts: new Map() }
    read.set(row.id, project)
    // Nobody else may see what a transaction has not committed.
    if (!currentTransaction()) kept.set(row.id, project)
  }
  return read
}
