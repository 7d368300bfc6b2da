// Memberships of projects and of groups alike.
import { execute } from '../../db/sql.js'
import type { Level } from '../../lib/levels.js'

/** What a user is a member of: a project, or a group, which is a namespace. */
export interface MemberSource {
  readonly type: 'project' | 'namespace'
  readonly id: number
}

/** Makes a user, who is no member yet, a member. Call it inside of `transact`. */
export async function insertMember(source: MemberSource, userId: number, level: Level): Promise<void> {
  const now = new Date()
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?)`,
    [source.type, source.id, userId, level, now, now]
  )
}
