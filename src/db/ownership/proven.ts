// Which statements the versions of db/connect/content.ts prove. It is separate from them because it needs the names of all tables.
import { PROVEN } from '../connect/content.js'
import { TABLES } from './ownership.js'

const UNPROVEN = new Set<string>(TABLES.filter(table => !PROVEN.has(table)))
const MOST = 500
const known = new Map<string, boolean>()

/**
 * Returns whether the version proves everything that a statement reads about the project of a request. Any word that is the name of
 * another table counts, so that no form of a join hides one.
 */
export function readsContentOnly(sql: string): boolean {
  const before = known.get(sql)
  if (before !== undefined) return before
  const words = sql.toLowerCase().match(/\w+/g) ?? []
  const only = words.some(word => PROVEN.has(word)) && !words.some(word => UNPROVEN.has(word))
  if (known.size >= MOST) known.clear()
  known.set(sql, only)
  return only
}
