// Finds encrypted values that the key of this home cannot decrypt.
import { rows } from '../../../db/connect/sql.js'
import { encryptedColumns } from '../../../db/ownership/owned-tables.js'
import { Undecryptable } from '../../../errors.js'
import { decrypt } from '../../../secrets.js'

/** Rows that one statement reads. A value may have some 100 KB. */
const AT_ONCE = 100
/** More values do not show more about the cause. */
const MOST = 1000

export interface UndecryptableValue {
  readonly column: string
  readonly id: number
}

/** Tries the newest value of each encrypted column, or with `all` every value. Returns those that fail, at most 1000. */
export async function findUndecryptable({ all }: { all: boolean }): Promise<UndecryptableValue[]> {
  const found: UndecryptableValue[] = []
  for (const [table, column] of encryptedColumns()) {
    for (let before: number | undefined; found.length < MOST; ) {
      const values: { id: number; box: Buffer }[] = await rows(
        `select id, ${column} as box from ${table} where ${column} is not null ${before === undefined ? '' : 'and id < ?'}
         order by id desc limit ${all ? AT_ONCE : 1}`,
        before === undefined ? [] : [before]
      )
      for (const { id, box } of values) if (!opens(box)) found.push({ column: `${table}.${column}`, id })
      before = values.at(-1)?.id
      if (!all || values.length < AT_ONCE) break
    }
  }
  return found
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
