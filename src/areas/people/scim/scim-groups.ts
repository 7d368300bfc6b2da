// Groups of a directory. They are not groups of projects: `identity.scim.members` says which memberships they give (memberships.ts).
import type { Origin } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, marks, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { audit } from '../../ground/audit/audit.js'
import { ScimFailure } from './failures.js'
import { groupVersion } from './group-resource.js'
import { applyMemberships, givesMemberships } from './memberships.js'
import { type Attributes, addWhole, applyOperations, type Draft, emptyDraft, type Operation } from './patch.js'
import { findScimGroup, managedAmong, membersOfGroups, type ScimGroupRow } from './scim-groups.queries.js'
import { type Change, requireVersion } from './versions.js'

const MOST_MEMBERS = 10_000
/** Not specified: the maximum number of groups. */
const MOST_GROUPS = 10_000
const AT_ONCE = 5000

const GROUP_ATTRIBUTES: Attributes = {
  texts: { displayname: 'displayName', externalid: 'externalId' },
  flags: {},
  lists: { members: { name: 'members', parts: ['value', 'display', 'type'], most: MOST_MEMBERS } },
  readOnly: ['id', 'meta'],
  ignored: ['schemas']
}

interface GroupValues {
  readonly displayName: string
  readonly externalId: string | null
  readonly members: ReadonlySet<number>
}

/** Creates a group, and returns its id. Throws ScimFailure. */
export async function createScimGroup(body: unknown, origin: Origin): Promise<number> {
  const draft = emptyDraft()
  addWhole(draft, body, GROUP_ATTRIBUTES)
  const values = valuesOf(draft)
  return transact(async () => {
    const counted = await row<{ total: number }>('select count(*) as total from scim_groups')
    if ((counted?.total ?? 0) >= MOST_GROUPS)
      throw new ScimFailure('tooMany', `there are ${MOST_GROUPS} groups already`)
    const now = new Date()
    const { insertId: id } = await naming(() =>
      execute('insert into scim_groups (display_name, external_id, created_at, updated_at) values (?, ?, ?, ?)', [
        values.displayName,
        values.externalId,
        now,
        now
      ])
    )
    await audit(origin, { action: 'scim_group.create', target: { type: 'scim_group', id, name: values.displayName } })
    const changed = await writeMembers(id, new Set(), values, origin)
    if (givesMemberships(values.displayName)) await applyMemberships([...changed], origin)
    await noteGroupsOf(changed)
    return id
  })
}

/** Gives a group exactly the attributes of a body. Throws ScimFailure, NotFound and OtherVersion. */
export async function replaceScimGroup(id: number, body: unknown, by: Change): Promise<void> {
  await change(id, by, () => {
    const draft = emptyDraft()
    addWhole(draft, body, GROUP_ATTRIBUTES)
    return draft
  })
}

/** Changes a group by operations. Throws ScimFailure, NotFound and OtherVersion. */
export async function patchScimGroup(id: number, operations: readonly Operation[], by: Change): Promise<void> {
  await change(id, by, draft => {
    applyOperations(draft, operations, GROUP_ATTRIBUTES)
    return draft
  })
}

async function change(id: number, by: Change, draftFrom: (draft: Draft) => Draft): Promise<void> {
  await transact(async () => {
    const { group, members } = await requireLocked(id, by)
    const { origin } = by
    const wanted = valuesOf(draftFrom(draftOf(group, members)))
    const values = { ...wanted, externalId: wanted.externalId ?? group.external_id }
    const isRenamed = values.displayName !== group.display_name
    if (isRenamed || values.externalId !== group.external_id) await rename(group, values, origin)
    const changed = await writeMembers(id, members, values, origin)
    const concerned = isRenamed ? members.union(values.members) : changed
    if ([group.display_name, values.displayName].some(givesMemberships)) await applyMemberships([...concerned], origin)
    await noteGroupsOf(concerned)
  })
}

/** Deletes a group, and ends the memberships that it gave. Throws NotFound and OtherVersion. */
export async function deleteScimGroup(id: number, by: Change): Promise<void> {
  await transact(async () => {
    const { group, members } = await requireLocked(id, by)
    const { origin } = by
    await execute('delete from scim_group_members where group_id = ?', [id])
    await execute('delete from scim_groups where id = ?', [id])
    if (givesMemberships(group.display_name)) await applyMemberships([...members], origin)
    await noteGroupsOf(members)
    await audit(origin, { action: 'scim_group.delete', target: { type: 'scim_group', id, name: group.display_name } })
  })
}

/** Changes of a group run one after another. */
async function requireLocked(
  id: number,
  by: Change
): Promise<{ readonly group: ScimGroupRow; readonly members: ReadonlySet<number> }> {
  await execute('update scim_groups set version = version + 1 where id = ?', [id])
  const group = await findScimGroup(id)
  if (!group) throw new NotFound('Group')
  const members = new Set(((await membersOfGroups([id])).get(id) ?? []).map(({ user_id }) => user_id))
  requireVersion(by, groupVersion({ ...group, version: group.version - 1 }, members.size))
  return { group, members }
}

/** A user who is in other groups has another version. */
async function noteGroupsOf(userIds: ReadonlySet<number>): Promise<void> {
  for (const some of batches(
    [...userIds].sort((a, b) => a - b),
    AT_ONCE
  )) {
    await execute(`update scim_users set version = version + 1 where user_id in (${marks(some)})`, some)
  }
}

function draftOf(group: ScimGroupRow, members: ReadonlySet<number>): Draft {
  const draft = emptyDraft()
  draft.texts.set('displayname', group.display_name)
  if (group.external_id !== null) draft.texts.set('externalid', group.external_id)
  draft.lists.set('members', new Map([...members].map(id => [String(id), { value: String(id) }])))
  return draft
}

function valuesOf({ texts, lists }: Draft): GroupValues {
  const displayName = texts.get('displayname')?.trim()
  if (!displayName) throw new ScimFailure('invalidValue', 'displayName is missing')
  const members = [...(lists.get('members')?.keys() ?? [])].map(value => {
    if (!/^\d{1,10}$/.test(value)) throw noUser()
    return Number(value)
  })
  return { displayName, externalId: texts.get('externalid') ?? null, members: new Set(members) }
}

const noUser = () => new ScimFailure('invalidValue', 'members has a value that is the id of no user of the directory')

async function rename(group: ScimGroupRow, { displayName, externalId }: GroupValues, origin: Origin): Promise<void> {
  await naming(() =>
    execute('update scim_groups set display_name = ?, external_id = ?, updated_at = ? where id = ?', [
      displayName,
      externalId,
      new Date(),
      group.id
    ])
  )
  if (displayName === group.display_name) return
  await audit(origin, {
    action: 'scim_group.update',
    target: { type: 'scim_group', id: group.id, name: group.display_name },
    changes: { display_name: { before: group.display_name, after: displayName } }
  })
}

/** Writes the members that differ. Returns these users. */
async function writeMembers(
  id: number,
  before: ReadonlySet<number>,
  { displayName, members }: GroupValues,
  origin: Origin
): Promise<ReadonlySet<number>> {
  const [added, removed] = [[...members.difference(before)], [...before.difference(members)]]
  for (const some of batches(added, AT_ONCE)) {
    if ((await managedAmong(some)).size < some.length) throw noUser()
    await execute(
      `insert into scim_group_members (group_id, user_id) values ${some.map(() => '(?, ?)').join(', ')}`,
      some.flatMap(userId => [id, userId])
    )
  }
  for (const some of batches(removed, AT_ONCE)) {
    await execute(`delete from scim_group_members where group_id = ? and user_id in (${marks(some)})`, [id, ...some])
  }
  const changed = [...added, ...removed]
  if (changed.length === 0) return new Set()
  await execute('update scim_groups set updated_at = ? where id = ?', [new Date(), id])
  await audit(origin, {
    action: 'scim_group.members',
    target: { type: 'scim_group', id, name: displayName },
    changes: { added: { after: shown(added) }, removed: { after: shown(removed) } }
  })
  return new Set(changed)
}

/** Ids of users in the audit. Their number can be large, so the rest is only counted. */
const shown = (ids: readonly number[]) => (ids.length > 100 ? { count: ids.length, first: ids.slice(0, 100) } : ids)

async function naming<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw duplicateKey(error) === 'scim_groups_display_name'
      ? new ScimFailure('uniqueness', 'displayName belongs to another group')
      : error
  }
}
