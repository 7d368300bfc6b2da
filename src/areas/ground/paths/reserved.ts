// Old paths for a sysadmin: lists those that are reserved, and frees them before their time.
import type { Origin } from '../../../access/actor.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NoSuch } from '../../../errors.js'
import { audit } from '../audit/audit.js'
import { reservedUntil } from './redirects.js'

interface OldPathRow {
  readonly id: number
  readonly path: string
  readonly leads_to: string
  readonly kind: 'group' | 'user'
  readonly created_at: Date
}

/** An old path of a group or user. */
export interface ReservedPath {
  readonly path: string
  /** The path of the group or user now. */
  readonly leads_to: string
  readonly kind: 'group' | 'user'
  readonly reserved_until: Date
}

const SELECT = `select r.id, r.path, n.path as leads_to, n.kind, r.created_at from namespace_redirects r
  join namespaces n on n.id = r.namespace_id`

const viewOf = (found: OldPathRow): ReservedPath => ({
  path: found.path,
  leads_to: found.leads_to,
  kind: found.kind,
  reserved_until: reservedUntil(found)
})

/** Returns the reserved old paths of groups and users, in the order of the paths. */
export const listReservedPaths = async (): Promise<ReservedPath[]> =>
  (await rows<OldPathRow>(`${SELECT} where r.reserved order by r.path_key`)).map(viewOf)

/** Ends the redirect from an old path of a group or user, so that anybody may take it. Throws NoSuch. */
export function freePath(path: string, origin: Origin): Promise<ReservedPath> {
  return transact(async () => {
    const found = await row<OldPathRow>(`${SELECT} where r.path_key = lower(?) for update`, [path])
    if (!found) throw new NoSuch('old path', path)
    await execute('delete from namespace_redirects where id = ?', [found.id])
    const target = { type: 'path', id: found.id, name: found.path }
    await audit(origin, { action: 'path.free', target, changes: { leads_to: { before: found.leads_to } } })
    return viewOf(found)
  })
}
