// The end of a user: what goes along, and what stays without a name.
import type { Origin } from '../../access/actor.js'
import { User } from '../../db/models/index.js'
import { deleteRows, eraseOwned } from '../../db/owned-rows.js'
import { transact } from '../../db/transact.js'
import { enqueue } from '../../queue/enqueue.js'
import { tell, tellAll } from '../activity/happenings.js'
import { personalProjects } from '../activity/project-snapshots.js'
import { keySnapshot, userSnapshot } from '../activity/snapshots.js'
import { audit, changesBetween } from '../audit/audit.js'
import { listKeys } from '../users/keys.queries.js'
import { isLastAdmin, requireOtherAdmin } from '../users/last-admin.js'
import { removeProjects } from './project-removal.js'
import { type Counts, countBelongings, countTraces, findGroupsOwnedAlone } from './user-deletion.queries.js'

export interface UserDeletion {
  /** Groups that would have no owner left: while there are any, the user is not deleted. */
  readonly only_owner_of: readonly string[]
  /** The last active administrator is not deleted either. */
  readonly last_admin: boolean
  /** Projects by their paths, and how many of the rest. */
  readonly goes: { readonly projects: readonly string[]; readonly [name: string]: number | readonly string[] }
  /** Without the user's name, but for the audit. */
  readonly stays: Counts
}

/** What the deletion of a user would take along and what it would leave. Changes nothing. */
export async function deletionOf(user: { id: number }): Promise<UserDeletion> {
  const [groups, last, projects, belongings, traces] = await Promise.all([
    findGroupsOwnedAlone(user.id),
    isLastAdmin(user.id),
    personalProjects(user.id),
    countBelongings(user.id),
    countTraces(user.id)
  ])
  const paths = projects.map(({ path_with_namespace }) => path_with_namespace)
  return { only_owner_of: groups, last_admin: last, goes: { projects: paths, ...belongings }, stays: traces }
}

/**
 * Deletes a user with the personal projects, keys, addresses, tokens, sessions, identities and memberships. Gives the
 * groups for whose sake the user stays, as nobody else owns them; none when the user is gone, or was not there. Throws
 * Forbidden for the last active administrator.
 */
export function deleteUser(id: number, origin: Origin): Promise<string[]> {
  return transact(async () => {
    // Whoever creates a project for the user waits for this row, and finds nobody afterwards.
    const user = await User.findByPk(id, { lock: true })
    if (!user) return []
    const groups = await findGroupsOwnedAlone(id)
    if (groups.length > 0) return groups
    if (user.admin && user.state === 'active') await requireOtherAdmin(id, 'deleted')
    const projects = await personalProjects(id)
    await removeProjects(projects, origin)
    const keys = await listKeys(id)
    // Not specified: whether hooks hear of the memberships that end. The end of the user says it.
    await deleteRows('users', [id])
    await tellAll(keys.map(key => ({ kind: 'key.removed', key: keySnapshot(key, user) })))
    await tell({ kind: 'user.deleted', user: userSnapshot(user) })
    const before = { ...recordOf(user), projects: projects.map(project => project.path_with_namespace) }
    const target = { type: 'user', id, name: user.username }
    await audit(origin, { action: 'user.delete', target, changes: changesBetween(before, null) })
    await enqueue('user.forget', { userId: id })
    return []
  })
}

/**
 * Takes the number of a deleted user out of what stays, and what the user did out of the feed. Nothing waits for it: readers
 * look for the user and find nobody.
 */
export const forgetUser = (userId: number, signal: AbortSignal): Promise<void> =>
  eraseOwned('users', userId, { signal })

const recordOf = ({ username, name, email, state, admin, external }: User) => ({
  username,
  name,
  email,
  state,
  admin,
  external
})
