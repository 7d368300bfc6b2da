// People and organizations of Gitea.
import { ahead } from '../sources/ahead.js'
import { checked, fittingOne, momentOf } from '../sources/shapes.js'
import type { Person, Skipped, SourceGroup, SourceMember, SourceUser } from '../sources/source.js'
import { type Forge, itemsOf } from './lists.js'
import type { Reading } from './reading.js'
import { type Author, Key, Organization, Permission, Team, User } from './shapes.js'

/** Requests at once. */
const AT_ONCE = 4

const checkUser = checked(User)
const checkKey = checked(Key)
const checkOrganization = checked(Organization)
const checkTeam = checked(Team)
const checkPermission = checked(Permission)

/** Returns the username. Deleted users are `Ghost` with the id -1; other numbers below 1 are accounts of the forge itself. */
export const personOf = (user: Author): Person => (user && user.id > 0 ? user.login : null)

/** An administrator's token may lack the scope for the lists of administrators. Then it counts as that of any other user. */
export async function readSelf({ client }: Forge) {
  const self = checkUser((await client.get('user')).body)
  const isAdmin = self?.is_admin === true && (await client.find('admin/orgs?limit=1&page=1')) !== null
  return { username: self?.login ?? '', isAdmin }
}

export async function readUser(forge: Forge, username: string, skipped: Skipped): Promise<SourceUser | null> {
  if (!/^[\w.-]{1,255}$/.test(username) || /^\.{1,2}$/.test(username)) return null
  const found = fittingOne((await forge.client.find(`users/${username}`))?.body, checkUser, { what: 'user', skipped })
  if (!found || found.id <= 0) return null
  const keys: { title: string; key: string }[] = []
  const report = { what: `key of ${username}`, skipped }
  const list = `users/${encodeURIComponent(found.login)}/keys`
  for await (const { title, key } of itemsOf(forge, list, checkKey, report)) keys.push({ title: title ?? '', key })
  return { ...userOf(found, (await readSelf(forge)).isAdmin), keys }
}

/** Only administrators see the address of everybody, and who is active: others see all accounts as inactive. */
function userOf(user: User, isAdmin: boolean): SourceUser {
  const createdAt = momentOf(user.created)
  return {
    username: user.login,
    name: user.full_name?.trim() || user.login,
    email: isAdmin && user.active === false ? null : addressOf(user),
    isVerified: false,
    isAdmin: user.is_admin === true,
    state: isAdmin && (user.prohibit_login || user.active === false) ? 'blocked' : 'active',
    ...(createdAt !== null && { createdAt })
  }
}

/**
 * Not specified: Gitea does not say whether an address is confirmed. That of an active account is, if the forge asks for it; otherwise
 * people there can enter any address.
 */
const addressOf = ({ email }: User): string | null =>
  // Such an address stands for a hidden one.
  email && !/@(?:[\w-]{1,63}\.)?noreply\./i.test(email) ? email : null

const VISIBILITIES: { readonly [visibility: string]: SourceGroup['visibility'] } = {
  public: 'public',
  limited: 'internal'
}

export async function* readGroups(forge: Forge, skipped: Skipped): AsyncGenerator<SourceGroup> {
  const { isAdmin } = await readSelf(forge)
  const organizations = itemsOf(forge, isAdmin ? 'admin/orgs' : 'user/orgs', checkOrganization, {
    what: 'group',
    skipped
  })
  yield* ahead(organizations, AT_ONCE, async ({ username, full_name, description, visibility }) => {
    const members = new Map<string, SourceMember>()
    // Members of a team that has only some repositories become members of these.
    const teams = `orgs/${encodeURIComponent(username)}/teams`
    for await (const team of itemsOf(forge, teams, checkTeam, { what: `team of ${username}`, skipped }))
      if (isOfAll(team)) await addMembers({ ...forge, what: `member of ${username}`, skipped }, team, members)
    return {
      path: username,
      name: full_name?.trim() || username,
      description: description ?? null,
      visibility: VISIBILITIES[visibility ?? 'public'] ?? 'private',
      members: [...members.values()]
    }
  })
}

const isOfAll = ({ permission, includes_all_repositories }: Team) =>
  permission === 'owner' || includes_all_repositories === true

interface Listing extends Forge {
  readonly what: string
  readonly skipped: Skipped
}

async function addMembers(listing: Listing, team: Team, members: Map<string, SourceMember>) {
  // The rights of a team may differ between code, issues and others.
  const units = Object.values(team.units_map ?? {}).map(levelOf)
  const level = Math.max(levelOf(team.permission ?? ''), ...units) as SourceMember['level'] | 0
  if (level === 0) return
  for await (const user of itemsOf(listing, `teams/${team.id}/members`, checkUser, listing)) {
    const username = personOf(user)
    if (username === null || (members.get(username)?.level ?? 0) >= level) continue
    members.set(username, { username, level })
  }
}

const LEVELS: { readonly [permission: string]: SourceMember['level'] } = { read: 20, write: 30, admin: 40, owner: 50 }
/** Not specified: users who may read there see the code, as a reporter does here. */
const levelOf = (permission: string): SourceMember['level'] | 0 => LEVELS[permission] ?? 0

const permissionOf = ({ permissions }: User) => (permissions?.admin ? 'admin' : permissions?.push ? 'write' : 'read')

/** The collaborators of a repository, and the members of the teams that have only some repositories. */
export async function readMembers(reading: Reading): Promise<SourceMember[]> {
  const { path, repository, client, skipped } = reading
  const report = { what: 'member', skipped }
  const members = new Map<string, SourceMember>()
  if (reading.isOfOrganization)
    for await (const team of itemsOf(reading, `${path}/teams`, checkTeam, { what: 'team', skipped }))
      if (!isOfAll(team)) await addMembers({ ...reading, ...report }, team, members)
  const withLevel = async (user: User) => {
    const found = await client.find(`${path}/collaborators/${encodeURIComponent(user.login)}/permission`)
    return { user, level: levelOf(checkPermission(found?.body)?.permission ?? permissionOf(user)) }
  }
  const collaborators = itemsOf(reading, `${path}/collaborators`, checkUser, report)
  for await (const { user, level } of ahead(collaborators, AT_ONCE, withLevel)) {
    const username = personOf(user)
    if (username === null || username === repository.owner.login || level === 0) continue
    if ((members.get(username)?.level ?? 0) < level) members.set(username, { username, level })
  }
  return [...members.values()]
}
