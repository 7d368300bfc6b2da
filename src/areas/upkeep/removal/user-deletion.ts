// Deletes a user. Some records are deleted with the user; others stay without the user's name.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { User } from '../../../db/models/index.js'
import { deleteRows, eraseOwned, giveContributions } from '../../../db/ownership/owned-rows.js'
import { Conflict } from '../../../errors.js'
import { enqueue } from '../../../queue/enqueue.js'
import { publish, publishAll } from '../../ground/activity/events.js'
import { personalProjects } from '../../ground/activity/project-snapshots.js'
import { keySnapshot, userSnapshot } from '../../ground/activity/snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { removeFiles } from '../../ground/records/archived-files.js'
import { refuseGhost } from '../../people/users/ghost/ghost.js'
import { ghostUser } from '../../people/users/ghost/ghost-user.js'
import { listKeys } from '../../people/users/keys.queries.js'
import { isLastAdmin, requireOtherAdmin } from '../../people/users/last-admin.js'
import { requirePending } from '../../people/users/suspension.js'
import { blockUser } from '../../people/users/user-state.js'
import { uncountIssues } from '../../planning/issues/issue-counts.js'
import { uncountStars } from '../../projects/projects/stars.js'
import { removeProjects } from './project-removal.js'
import {
  type Counts,
  countBelongings,
  countContributions,
  countTraces,
  findGroupsOwnedAlone
} from './user-deletion.queries.js'

export interface UserDeletion {
  /** Groups that would lose their only owner. The user cannot be deleted while there are any. */
  readonly only_owner_of: readonly string[]
  /** Whether the user is the last active administrator, who cannot be deleted either. */
  readonly last_admin: boolean
  /** The paths of the projects and the numbers of other records that are removed. */
  readonly goes: { readonly projects: readonly string[]; readonly [name: string]: number | readonly string[] }
  /** The numbers of the records that stay. They lose the user's name, except in the audit log. */
  readonly stays: Counts
  /** The numbers of contributions that the ghost user would get. Absent when they would be removed. */
  readonly given?: Counts
}

/** Returns what the deletion of a user would remove and what would stay. It changes nothing. */
export async function deletionOf(user: { id: number }, { keeps = false } = {}): Promise<UserDeletion> {
  const [groups, last, projects, belongings, traces, given] = await Promise.all([
    findGroupsOwnedAlone(user.id),
    isLastAdmin(user.id),
    personalProjects(user.id),
    countBelongings(user.id),
    countTraces(user.id),
    keeps ? countContributions(user.id) : ({} as Counts)
  ])
  const goes = Object.fromEntries(Object.entries(belongings).map(([name, rows]) => [name, rows - (given[name] ?? 0)]))
  const paths = projects.map(({ path_with_namespace }) => path_with_namespace)
  return {
    only_owner_of: groups,
    last_admin: last,
    goes: { projects: paths, ...goes },
    stays: traces,
    ...(keeps && { given })
  }
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
    refuseGhost(user)
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
 * Deletes a user like `deleteUser`, but gives the issues, merge requests, comments and project snippets of the user to the ghost user
 * before. The user is blocked first, and writes nothing more. When this is killed, the next call continues.
 */
export async function deleteUserKeeping(id: number, origin: Origin): Promise<string[] | null> {
  const user = await User.findByPk(id)
  if (!user) return null
  refuseGhost(user)
  const groups = await findGroupsOwnedAlone(id)
  if (groups.length > 0) return groups
  await blockUser(id, origin)
  const given = await giveContributions(id, await ghostUser(origin))
  await audit(origin, {
    action: 'user.give_contributions',
    target: { type: 'user', id, name: user.username },
    changes: changesBetween(null, given)
  })
  return deleteUser(id, origin)
}

/** Deletes a user whom an administrator should have approved. Throws NotFound, and Conflict for a user whom nobody has to approve. */
export function rejectUser(
  user: { id: number; username: string; name: string; email: string },
  origin: Origin
): Promise<void> {
  const { id, username, name, email } = user
  return transact(async () => {
    await requirePending(user)
    const groups = await deleteUser(id, origin)
    if (groups === null || groups.length > 0)
      throw new Conflict(`user ${username} owns groups: delete the user instead`)
    await publish({ kind: 'approval.denied', username, name, email })
  })
}

/**
 * Removes the id of a deleted user from the records that stay, and the user's actions from the feed. Nothing waits for this:
 * readers look up the user and find nobody.
 */
export const forgetUser = (userId: number, signal: AbortSignal): Promise<void> =>
  eraseOwned('users', userId, { signal, before: { archived_files: removeFiles } })

const recordOf = ({ username, name, email, state, admin, external }: User) => ({
  username,
  name,
  email,
  state,
  admin,
  external
})
