// What the groups of the directory give here: `identity.scim.members` in the configuration maps names to groups and levels. A
// group of the directory that is not there gives nothing.
import { type Origin, scheduleOrigin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { lowerMarks, marks, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { batches } from '../../../lib/batches.js'
import { type Grant, readGrant } from '../../../lib/grants.js'
import type { Task } from '../../../queue/task.js'
import { giveInBulk, lockGroups } from '../members/given-in-bulk.js'

/** The giver of these memberships. Provisioning by SCIM and signing in by OpenID Connect must not take away what the other gives. */
const GIVER = 'scim'
const AT_ONCE = 5000

const rules = (): Grant[] => config().identity.scim.members.map(readGrant)

/** Whether a group of the directory gives a membership. */
export const givesMemberships = (displayName: string): boolean =>
  rules().some(({ of }) => of.toLowerCase() === displayName.toLowerCase())

/**
 * Gives these users what their groups in the directory give, and ends what these gave before. Returns the number of changed memberships.
 * Call it inside `transact`.
 */
export async function applyMemberships(userIds: readonly number[], origin: Origin): Promise<number> {
  if (userIds.length === 0) return 0
  const groups = await groupsByPath()
  await lockGroups(new Set(groups.values()))
  const wanted = new Map<number, Map<number, number>>([...groups.values()].map(id => [id, new Map()]))
  const grants = rules()
  for (const part of batches(userIds, AT_ONCE)) {
    for (const { name, user_id } of await namesOf(part)) want(wanted, grants, groups, name, user_id)
  }
  return giveInBulk(GIVER, userIds, wanted, origin)
}

/** Of several rules about a group, the highest level counts. */
function want(
  wanted: Map<number, Map<number, number>>,
  grants: readonly Grant[],
  groups: ReadonlyMap<string, number>,
  displayName: string,
  userId: number
): void {
  for (const { of, group, level } of grants) {
    const levels = wanted.get(groups.get(group.toLowerCase()) ?? 0)
    if (!levels || of.toLowerCase() !== displayName) continue
    levels.set(userId, Math.max(levels.get(userId) ?? 0, level))
  }
}

/** Returns the paths in the configuration that no group has. */
export async function missingGroups(): Promise<string[]> {
  const found = await groupsByPath()
  return [...new Set(rules().map(({ group }) => group))].filter(path => !found.has(path.toLowerCase()))
}

async function groupsByPath(): Promise<ReadonlyMap<string, number>> {
  const paths = [...new Set(rules().map(({ group }) => group))]
  if (paths.length === 0) return new Map()
  const found = await rows<{ id: number; path: string }>(
    `select id, path from namespaces where kind = 'group' and path_key in (${lowerMarks(paths)})`,
    paths
  )
  return new Map(found.map(({ id, path }) => [path.toLowerCase(), id]))
}

async function namesOf(userIds: readonly number[]): Promise<{ name: string; user_id: number }[]> {
  const names = [...new Set(rules().map(({ of }) => of))]
  if (names.length === 0) return []
  return rows(
    `select g.display_name_key as name, m.user_id from scim_groups g join scim_group_members m on m.group_id = g.id
     where g.display_name_key in (${lowerMarks(names)}) and m.user_id in (${marks(userIds)})`,
    [...names, ...userIds]
  )
}

/** Users in one transaction of the task. */
const PART = 500

/** A change of the configuration, or a group that exists only now, takes effect here. */
export const scimMemberships: Task = {
  name: 'scim_memberships',
  schedule: '37 * * * *',
  about: 'gives members what identity.scim.members says, after a change of the configuration',
  async run({ dryRun, signal, count }) {
    if (dryRun) return undefined
    for (let last = 0; ; ) {
      signal.throwIfAborted()
      const found = await rows<{ id: number }>(
        `select user_id as id from scim_users where user_id > ? order by user_id limit ${PART}`,
        [last]
      )
      const ids = found.map(({ id }) => id)
      if (ids.length > 0) count(await transact(() => applyMemberships(ids, scheduleOrigin())))
      if (ids.length < PART) return undefined
      last = ids.at(-1) ?? last
    }
  }
}
