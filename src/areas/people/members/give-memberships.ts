import type { Origin } from '../../../access/actor.js'
import { rows } from '../../../db/connect/sql.js'
import { becomeMember, endMembership, lockLasting, updateMember } from './members.js'
import { findMember, type MemberSource } from './members.queries.js'
import { findSource } from './sources.js'

/** Gives the memberships of one user to another, who keeps a higher level. Call it inside `transact`. */
export async function giveMemberships(from: number, to: number, origin: Origin): Promise<void> {
  const found = await rows<MemberSource>('select source_type as type, source_id as id from members where user_id = ?', [
    from
  ])
  for (const each of found) {
    const source = await findSource(each)
    const given = await findMember(each, from, { lock: true })
    if (!source || !given) continue
    const { access_level: level, expires_at: expiresAt } = given
    const own = await lockLasting(source, to, origin)
    if (!own) await becomeMember(source, { userId: to, level, expiresAt }, origin)
    else if (own.access_level < level) await updateMember(source, to, { access_level: level }, origin)
    await endMembership(source, given, origin, { expired: false })
  }
}
