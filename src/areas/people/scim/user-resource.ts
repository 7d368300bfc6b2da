import { hash } from 'node:crypto'
import { publicUrl } from '../../../config.js'
import { type Chosen, choose, shows } from './attributes.js'
import { fitting, type Listed, viewList } from './lists.js'
import { type GroupOfUser, groupCounts, groupsOfUsers, type ScimUserRow } from './scim-users.queries.js'
import { tagOf } from './versions.js'

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'

/** Groups of users in one answer. */
const MOST_GROUPS = 20_000

/** Returns the place of a resource, such as `/scim/v2/Users/17`. */
export const locationOf = (kind: 'Users' | 'Groups', id: number): string => `${publicUrl()}/scim/v2/${kind}/${id}`

/** Returns the body of a user. */
export async function viewScimUser(user: ScimUserRow, chosen: Chosen): Promise<object> {
  const groups = shows(chosen, 'groups') ? await groupsOfUsers([user.id]) : new Map<number, GroupOfUser[]>()
  return choose(resource(user, groups.get(user.id) ?? []), chosen)
}

/** Returns the body of a list of users. */
export async function viewScimUsers(listed: Listed<ScimUserRow>, chosen: Chosen): Promise<object> {
  const hasGroups = shows(chosen, 'groups')
  const sizes = hasGroups ? await groupCounts(listed.found.map(({ id }) => id)) : []
  const shown = hasGroups ? listed.found.slice(0, fitting(sizes, MOST_GROUPS)) : listed.found
  const groups = hasGroups ? await groupsOfUsers(shown.map(({ id }) => id)) : new Map<number, GroupOfUser[]>()
  return viewList(
    listed,
    shown.map(user => choose(resource(user, groups.get(user.id) ?? []), chosen))
  )
}

/** Returns the version of a user: another one after each change of what a directory sees. */
export function userVersion(user: ScimUserRow): string {
  const { user_name, external_id, display_name, formatted_name, given_name, family_name, version } = user
  const names = [user_name, external_id, display_name, formatted_name, given_name, family_name]
  const seen = [...names, user.state === 'active', user.email, user.email_type, user.updated_at, version]
  return hash('sha256', JSON.stringify(seen), 'base64url').slice(0, 22)
}

const resource = (user: ScimUserRow, groups: readonly GroupOfUser[]) => ({
  schemas: [USER],
  id: String(user.id),
  ...(user.external_id !== null && { externalId: user.external_id }),
  userName: user.user_name,
  ...namesOf(user),
  ...(user.display_name !== null && { displayName: user.display_name }),
  active: user.state === 'active',
  emails: [{ value: user.email, type: user.email_type, primary: true }],
  groups: groups.map(({ group_id, display_name }) => ({
    value: String(group_id),
    $ref: locationOf('Groups', group_id),
    display: display_name,
    type: 'direct'
  })),
  meta: {
    resourceType: 'User',
    created: user.created_at.toISOString(),
    lastModified: user.updated_at.toISOString(),
    location: locationOf('Users', user.id),
    version: tagOf(userVersion(user))
  }
})

function namesOf({ formatted_name, given_name, family_name }: ScimUserRow): object {
  const name = {
    ...(formatted_name !== null && { formatted: formatted_name }),
    ...(given_name !== null && { givenName: given_name }),
    ...(family_name !== null && { familyName: family_name })
  }
  return Object.keys(name).length > 0 ? { name } : {}
}
