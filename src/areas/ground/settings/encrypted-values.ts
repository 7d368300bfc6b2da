// Finds encrypted values that the key of this home cannot decrypt, or can.
import { row, rows } from '../../../db/connect/sql.js'
import { encryptedColumns } from '../../../db/ownership/owned-tables.js'
import { Undecryptable } from '../../../errors.js'
import { decrypt, hasSecrets } from '../../../secrets.js'

/** Rows that one statement reads. A value may have some 100 KB. */
const AT_ONCE = 100
/** More values do not show more about the cause. */
const MOST = 1000
/** No index has the empty values, so a search among all rows of a large table would read each of them. */
const NEAR = 10_000
/** Not specified: a running build loses at most the end of a line with it. */
const PASSING = 'trace_tail_encrypted'

export interface UndecryptableValue {
  readonly column: string
  readonly id: number
}

const columns = () => encryptedColumns().filter(([, column]) => column !== PASSING)

interface EncryptedValue {
  readonly id: number
  readonly box: Buffer
}

/** Returns the newest or the oldest value of a column, if it is near that end of the table. */
function valueAt(end: 'newest' | 'oldest', table: string, column: string): Promise<EncryptedValue | undefined> {
  const near =
    end === 'newest'
      ? `id > (select greatest(max(id), ${NEAR}) - ${NEAR} from ${table})`
      : `id < (select min(id) + ${NEAR} from ${table})`
  return row<EncryptedValue>(
    `select id, ${column} as box from ${table} where ${column} is not null and ${near}
     order by id ${end === 'newest' ? 'desc' : 'asc'} limit 1`
  )
}

/**
 * Tries the newest value of each encrypted column among the last 10,000 ids, or with `all` every value. Returns those that fail, at
 * most 1000.
 */
export async function findUndecryptable({ all }: { all: boolean }): Promise<UndecryptableValue[]> {
  const found: UndecryptableValue[] = []
  const usable = hasSecrets()
  for (const [table, column] of columns()) {
    for await (const { id, box } of all ? everyValue(table, column) : newestValue(table, column)) {
      if (usable && opens(box)) continue
      found.push({ column: `${table}.${column}`, id })
      if (found.length === MOST) return found
    }
  }
  return found
}

async function* newestValue(table: string, column: string): AsyncGenerator<EncryptedValue> {
  const newest = await valueAt('newest', table, column)
  if (newest) yield newest
}

async function* everyValue(table: string, column: string): AsyncGenerator<EncryptedValue> {
  for (let before: number | undefined; ; ) {
    const values = await rows<EncryptedValue>(
      `select id, ${column} as box from ${table} where ${column} is not null ${before === undefined ? '' : 'and id < ?'}
       order by id desc limit ${AT_ONCE}`,
      before === undefined ? [] : [before]
    )
    yield* values
    before = values.at(-1)?.id
    if (values.length < AT_ONCE) return
  }
}

/** Returns whether the key of this home decrypts one of the newest and oldest values, or there are none. */
export async function opensAny(): Promise<boolean> {
  let empty = true
  for (const [table, column] of columns()) {
    for (const end of ['oldest', 'newest'] as const) {
      const value = await valueAt(end, table, column)
      if (value && opens(value.box)) return true
      if (value) empty = false
    }
  }
  return empty
}

function opens(box: Buffer): boolean {
  try {
    decrypt(box)
    return true
  } catch (error) {
    if (error instanceof Undecryptable) return false
    throw error
  }
}
