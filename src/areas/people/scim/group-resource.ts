import { type Chosen, choose, shows } from './attributes.js'
import { fitting, type Listed, viewList } from './lists.js'
import { memberCounts, membersOfGroups, type ScimGroupRow, type ScimMember } from './scim-groups.queries.js'
import { locationOf } from './user-resource.js'
import { tagOf } from './versions.js'

export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** Members of groups in one answer: as many as two groups may have. */
const MOST_MEMBERS = 20_000

/** Returns the body of a group. */
export async function viewScimGroup(group: ScimGroupRow, size: number, chosen: Chosen): Promise<object> {
  const members = shows(chosen, 'members') ? await membersOfGroups([group.id]) : undefined
  return choose(resource(group, size, members), chosen)
}

/** Returns the body of a list of groups. */
export async function viewScimGroups(listed: Listed<ScimGroupRow>, chosen: Chosen): Promise<object> {
  const hasMembers = shows(chosen, 'members')
  const sizes = await memberCounts(listed.found.map(({ id }) => id))
  const shown = hasMembers ? listed.found.slice(0, fitting(sizes, MOST_MEMBERS)) : listed.found
  const members = hasMembers ? await membersOfGroups(shown.map(({ id }) => id)) : undefined
  return viewList(
    listed,
    shown.map((group, at) => choose(resource(group, sizes[at] ?? 0, members), chosen))
  )
}

/** Returns the version of a group. Users who are deleted here leave their groups without a change of these. */
export const groupVersion = ({ version }: ScimGroupRow, size: number): string => `${version}-${size}`

const resource = (
  group: ScimGroupRow,
  size: number,
  members: ReadonlyMap<number, readonly ScimMember[]> | undefined
) => ({
  schemas: [GROUP],
  id: String(group.id),
  ...(group.external_id !== null && { externalId: group.external_id }),
  displayName: group.display_name,
  ...(members && { members: (members.get(group.id) ?? []).map(viewMember) }),
  meta: {
    resourceType: 'Group',
    created: group.created_at.toISOString(),
    lastModified: group.updated_at.toISOString(),
    location: locationOf('Groups', group.id),
    version: tagOf(groupVersion(group, size))
  }
})

const viewMember = ({ user_id, user_name }: ScimMember) => ({
  value: String(user_id),
  $ref: locationOf('Users', user_id),
  display: user_name,
  type: 'User'
})
