import { type Chosen, choose, shows } from './attributes.js'
import { fitting, type Listed, viewList } from './lists.js'
import { memberCounts, membersOfGroups, type ScimGroupRow, type ScimMember } from './scim-groups.queries.js'
import { locationOf } from './user-resource.js'

export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'

/** Members of groups in one answer: as many as two groups may have. */
const MOST_MEMBERS = 20_000

/** Returns the body of a group. */
export async function viewScimGroup(group: ScimGroupRow, chosen: Chosen): Promise<object> {
  const members = shows(chosen, 'members') ? await membersOfGroups([group.id]) : undefined
  return choose(resource(group, members), chosen)
}

/** Returns the body of a list of groups. */
export async function viewScimGroups(listed: Listed<ScimGroupRow>, chosen: Chosen): Promise<object> {
  const hasMembers = shows(chosen, 'members')
  const sizes = hasMembers ? await memberCounts(listed.found.map(({ id }) => id)) : []
  const shown = hasMembers ? listed.found.slice(0, fitting(sizes, MOST_MEMBERS)) : listed.found
  const members = hasMembers ? await membersOfGroups(shown.map(({ id }) => id)) : undefined
  return viewList(
    listed,
    shown.map(group => choose(resource(group, members), chosen))
  )
}

const resource = (group: ScimGroupRow, members: ReadonlyMap<number, readonly ScimMember[]> | undefined) => ({
  schemas: [GROUP],
  id: String(group.id),
  ...(group.external_id !== null && { externalId: group.external_id }),
  displayName: group.display_name,
  ...(members && { members: (members.get(group.id) ?? []).map(viewMember) }),
  meta: {
    resourceType: 'Group',
    created: group.created_at.toISOString(),
    lastModified: group.updated_at.toISOString(),
    location: locationOf('Groups', group.id)
  }
})

const viewMember = ({ user_id, user_name }: ScimMember) => ({
  value: String(user_id),
  $ref: locationOf('Users', user_id),
  display: user_name,
  type: 'User'
})
