// Memberships of projects and of groups alike.
import { execute } from '../../db/sql.js'
import type { Level } from '../../lib/levels.js'

/** The project or group in which a user is a member. A group is a namespace. */
export interface MemberSource {
  readonly type: 'project' | 'namespace'
  readonly id: number
}

/** Makes a user a member, who must not be a member yet. Call it inside `transact`. */
export async function insertMember(source: MemberSource, userId: number, level: Level): Promise<void> {
  const now = new Date()
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?)`,
    [source.type, source.id, userId, level, now, now]
  )
}
