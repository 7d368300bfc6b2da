// Maps the usernames of an archive to users at the target. It keeps a limited number of them in memory.
import { LRUCache } from 'lru-cache'
import { lowerMarks, padded, rows } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'
import type { ProjectRecord } from './records.js'

const KEPT = 10_000
/** The limit of missing people in the report. */
const MOST_NAMED = 1000
const AT_ONCE = 500

/** Fields with a person. */
export const SINGLE = ['author', 'assignee', 'updated_by', 'merge_user', 'user', 'username', 'owner'] as const
const LISTS = ['award_emoji', 'subscriptions', 'timelogs', 'participants'] as const

export interface People {
  /** Looks up all people of some records, with one statement for each 500. */
  lookUp(records: readonly ProjectRecord[]): Promise<void>
  /** The id of a user; null when no user has the name at the target. Only for people who were looked up before. */
  idOf(username: string | null): number | null
  /** Names that no user has at the target, sorted; the first thousand of them. */
  missing(): readonly string[]
}

export function newPeople(): People {
  // The names of one part of the archive are kept until the next part, however many there are.
  let current = new Map<string, number | null>()
  const kept = new LRUCache<string, { readonly id: number | null }>({ max: KEPT })
  const missing = new Set<string>()
  return {
    lookUp: async records => {
      const names = new Set(records.flatMap(namesIn))
      current = new Map()
      const unknown: string[] = []
      for (const name of names) {
        const known = kept.get(name)
        if (known) current.set(name, known.id)
        else unknown.push(name)
      }
      for (const some of batches(unknown, AT_ONCE)) {
        const list = padded(some.map(name => name.toLowerCase()))
        const found = await rows<{ id: number; name: string }>(
          `select id, username_key as name from users where username_key in (${lowerMarks(list)})`,
          list
        )
        const ids = new Map(found.map(({ id, name }) => [name, id]))
        for (const name of some) {
          const id = ids.get(name.toLowerCase()) ?? null
          current.set(name, id)
          kept.set(name, { id })
          if (id === null && missing.size < MOST_NAMED) missing.add(name)
        }
      }
    },
    idOf: username => (username === null ? null : (current.get(username) ?? null)),
    missing: () => [...missing].sort()
  }
}

function namesIn(record: ProjectRecord): string[] {
  const fields = record as unknown as Record<string, unknown>
  const names: string[] = []
  for (const field of SINGLE) {
    const value = fields[field]
    if (typeof value === 'string') names.push(value)
  }
  for (const field of LISTS) {
    for (const item of (fields[field] as readonly unknown[] | undefined) ?? []) {
      const name = typeof item === 'string' ? item : (item as { readonly user: string | null }).user
      if (name !== null) names.push(name)
    }
  }
  return names
}
