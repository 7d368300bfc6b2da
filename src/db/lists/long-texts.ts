// A page of a hundred descriptions may have 26 MB of text, and its answer needs several times as much memory. So the statement
// of a list leaves out long texts and returns their lengths. If a page has any, another statement reads them, once this process
// may hold that many bytes more.
import { Unavailable } from '../../errors.js'
import { Limiter, type Release } from '../../lib/limiter.js'
import { currentClient, type RequestScope, requestScope } from '../../lib/request-scope.js'
import { currentTransaction } from '../connect/scope.js'
import { marks, padded, rows } from '../connect/sql.js'

/** Bytes. A page of a hundred shorter texts has at most 1.6 MB. */
const LONG = 16_384
const MIB = 1_048_576
const PATIENCE_MS = 10_000

const busy = () => new Unavailable('Too many lists with long texts are being read', 5)
/** In bytes. A single page may be larger. */
const budget = new Limiter({
  capacity: 32 * MIB,
  perClient: 16 * MIB,
  queue: { capacity: 256, perClient: free => free / 2, full: busy },
  patience: { milliseconds: PATIENCE_MS, over: busy }
})

/** Returns a column without its long texts, and as `text_bytes` the length of a text that is left out. */
export const shortTexts = (column: string): { readonly text: string; readonly bytes: string } => ({
  text: `if(length(${column}) > ${LONG}, null, ${column})`,
  bytes: `if(length(${column}) > ${LONG}, length(${column}), 0) as text_bytes`
})

/** A column of texts, and how its rows are found. */
export interface TextColumn<Row> {
  readonly table: 'issues' | 'merge_requests' | 'notes' | 'milestones'
  readonly column: keyof Row & string
  /** The id in `table`; by default that of the row. */
  readonly idOf?: (row: Row) => number | null
}

/**
 * Adds the long texts to rows of a list that was read with `shortTexts`. Until the answer has been sent, their bytes count for the
 * client. Throws Unavailable when too many are under way.
 */
export async function withLongTexts<Row extends { readonly id: number }>(
  found: readonly Row[],
  { table, column, idOf = row => row.id }: TextColumn<Row>
): Promise<Row[]> {
  const bytesOf = (row: Row) => (row as { readonly text_bytes?: number }).text_bytes ?? 0
  const long = found.filter(row => bytesOf(row) > 0)
  if (long.length === 0) return [...found]
  await holdTexts(long.reduce((sum, row) => sum + bytesOf(row), 0))
  const ids = padded([...new Set(long.map(row => idOf(row) ?? 0))])
  const texts = await rows<{ id: number; text: string | null }>(
    `select id, ${column} as text from ${table} where id in (${marks(ids)})`,
    ids
  )
  const textOf = new Map(texts.map(({ id, text }) => [id, text]))
  return found.map(row => (bytesOf(row) > 0 ? { ...row, [column]: textOf.get(idOf(row) ?? 0) ?? null } : row))
}

/** What a request holds. */
class Held {
  bytes = 0
  isOver = false
  release: Release = () => undefined
  /** Ends when the calls so far have ended. */
  last: Promise<unknown> = Promise.resolve()
}

const holds = new WeakMap<RequestScope, Held>()

/** Waits until this process may hold more bytes of texts for the current request, and holds them until its end. */
export async function holdTexts(bytes: number): Promise<void> {
  // Others wait for the locks of a transaction, so it must not wait for their answers.
  if (currentTransaction()) return
  const scope = requestScope.getStore()
  const held = scope?.atEnd ? heldBy(scope, scope.atEnd) : new Held()
  // One call after the other: two of one request would wait for each other.
  const holding = held.last.then(() => holdMore(held, bytes))
  held.last = holding.catch(() => undefined)
  await holding
  if (!scope?.atEnd) held.release()
}

async function holdMore(held: Held, bytes: number): Promise<void> {
  // A request that waits holds nothing, so that two requests never wait for each other.
  held.release()
  const cost = held.bytes + bytes
  const release = await budget.acquire({ client: currentClient(), cost })
  held.bytes = cost
  held.release = release
  if (held.isOver) release()
}

function heldBy(scope: RequestScope, atEnd: NonNullable<RequestScope['atEnd']>): Held {
  const known = holds.get(scope)
  if (known) return known
  const held = new Held()
  holds.set(scope, held)
  atEnd(() => {
    held.isOver = true
    held.release()
  })
  return held
}
