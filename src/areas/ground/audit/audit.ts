// Writes a row for every administrative change, in the transaction of the change: who did what, from where, with the
// values before and after.
import type { Origin } from '../../../access/actor.js'
import { execute, type Value } from '../../../db/connect/sql.js'
import { noticeChange } from '../../../db/lists/count-cache.js'
import { batches } from '../../../lib/batches.js'

/** Attribute -> its value before and after. `before` or `after` is absent when there was no value. */
export type Changes = { readonly [attribute: string]: { readonly before?: unknown; readonly after?: unknown } }

export interface AuditEntry {
  /** `RECORD.VERB`, such as `user.block`. */
  readonly action: string
  readonly target: { readonly type: string; readonly id: number | string; readonly name: string }
  readonly changes?: Changes
}

/** The audit never keeps the values of these attributes. It only says that they changed. */
const SECRET = /^(password|token|private_token|secret|.*_(encrypted|hash))$/

/** Writes one change. Call it inside the `transact` of the change. */
export function audit(origin: Origin, entry: AuditEntry): Promise<void> {
  return auditAll(origin, [entry])
}

const AT_ONCE = 500

/** Writes many changes of one origin, 500 in each statement. Call it inside the `transact` of the changes. */
export async function auditAll(origin: Origin, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) noticeChange()
  for (const part of batches(entries, AT_ONCE)) {
    await execute(
      `insert into audit_events (created_at, actor_id, actor_name, acting_as, via, address, action, target_type,
         target_id, target_name, changes) values ${part.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      part.flatMap(entry => valuesOf(origin, entry))
    )
  }
}

const valuesOf = (origin: Origin, { action, target, changes = {} }: AuditEntry): Value[] => [
  new Date(),
  origin.user?.id ?? null,
  origin.name,
  origin.actingAs,
  origin.via,
  origin.address,
  action,
  target.type,
  String(target.id),
  target.name.slice(0, 255),
  JSON.stringify(withoutSecrets(changes))
]

/** The attributes that differ between two records, or that only one of them has. */
export function changesBetween(before: object | null, after: object | null): Changes {
  const [old, current] = [before ?? {}, after ?? {}] as [Record<string, unknown>, Record<string, unknown>]
  const names = new Set([...Object.keys(old), ...Object.keys(current)])
  const changes: Record<string, { before?: unknown; after?: unknown }> = {}
  for (const name of names) {
    if (JSON.stringify(old[name]) === JSON.stringify(current[name])) continue
    changes[name] = {
      ...(name in old ? { before: old[name] } : {}),
      ...(name in current ? { after: current[name] } : {})
    }
  }
  return changes
}

function withoutSecrets(changes: Changes): Changes {
  return Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [name, SECRET.test(name) ? { after: '[changed]' } : change])
  )
}
