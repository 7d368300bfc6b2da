// Deletes a user. Some records are deleted with the user; others stay without the user's name.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { User } from '../../../db/models/index.js'
import { deleteRows, eraseOwned } from '../../../db/ownership/owned-rows.js'
import { enqueue } from '../../../queue/enqueue.js'
import { publish, publishAll } from '../../ground/activity/events.js'
import { personalProjects } from '../../ground/activity/project-snapshots.js'
import { keySnapshot, userSnapshot } from '../../ground/activity/snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { listKeys } from '../../people/users/keys.queries.js'
import { isLastAdmin, requireOtherAdmin } from '../../people/users/last-admin.js'
import { uncountIssues } from '../../planning/issues/issue-counts.js'
import { uncountStars } from '../../projects/projects/stars.js'
import { removeProjects } from './project-removal.js'
import { type Counts, countBelongings, countTraces, findGroupsOwnedAlone } from './user-deletion.queries.js'

export interface UserDeletion {
  /** Groups that would lose their only owner. The user cannot be deleted while there are any. */
  readonly only_owner_of: readonly string[]
  /** Whether the user is the last active administrator, who cannot be deleted either. */
  readonly last_admin: boolean
  /** The paths of the projects and the numbers of other records that are removed. */
  readonly goes: { readonly projects: readonly string[]; readonly [name: string]: number | readonly string[] }
  /** The numbers of the records that stay. They lose the user's name, except in the audit log. */
  readonly stays: Counts
}

/** Returns what the deletion of a user would remove and what would stay. It changes nothing. */
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
 * Deletes a user with the personal projects, keys, addresses, tokens, sessions, identities and memberships. If the user is the
 * only owner of groups, the user stays, and the function returns the paths of these groups. Otherwise it returns an empty list,
 * or null when the user did not exist. Throws Forbidden for the last active administrator.
 */
export function deleteUser(id: number, origin: Origin): Promise<string[] | null> {
  return transact(async () => {
    // A request that creates a project for the user waits for this row, and then finds no user.
    const user = await User.findByPk(id, { lock: true })
    if (!user) return null
    const groups = await findGroupsOwnedAlone(id)
    if (groups.length > 0) return groups
    if (user.admin && user.state === 'active') await requireOtherAdmin(id, 'deleted')
    const projects = await personalProjects(id)
    await removeProjects(projects, origin)
    const keys = await listKeys(id)
    // Not specified: whether hooks get an event for each membership that ends. They only get the deletion of the user.
    await uncountStars(id)
    await uncountIssues(id)
    await deleteRows('users', [id])
    await publishAll(keys.map(key => ({ kind: 'key.removed', key: keySnapshot(key, user) })))
    await publish({ kind: 'user.deleted', user: userSnapshot(user) })
    const before = { ...recordOf(user), projects: projects.map(project => project.path_with_namespace) }
    const target = { type: 'user', id, name: user.username }
    await audit(origin, { action: 'user.delete', target, changes: changesBetween(before, null) })
    await enqueue('user.forget', { userId: id })
    return []
  })
}

/**
 * Removes the id of a deleted user from the records that stay, and the user's actions from the feed. Nothing waits for this:
 * readers look up the user and find nobody.
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
