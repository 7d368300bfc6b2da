// People and organizations of GitHub.
import { checked, firstMoment, fittingOne, momentOf } from '../sources/shapes.js'
import type { SourceGroup, SourceMember, SourceUser } from '../sources/source.js'
import { items, type Reading } from './lists.js'
import { Account, Collaborator, Key, Login, Organization, personOf, type Repository } from './shapes.js'

const checkAccount = checked(Account)
const checkOrganization = checked(Organization)
const TITLE = 'GitHub'

/** The lists of no repository. */
export type Lists = Pick<Reading, 'client' | 'skipped'>

/** Returns an account; null for organizations, bots and unknown names. `isCloud`: the service verifies the addresses that it shows. */
export async function readUser(lists: Lists, username: string, isCloud: boolean): Promise<SourceUser | null> {
  if (!/^[\w.-]{1,200}$/.test(username) || /^\.{1,2}$/.test(username)) return null
  const { client, skipped } = lists
  const account = fittingOne((await client.find(`users/${username}`))?.body, checkAccount, { what: 'user', skipped })
  if (!account || (account.type ?? 'User') !== 'User' || personOf(account) === null) return null
  const keys: { title: string; key: string }[] = []
  const options = { what: `key of ${username}`, optional: true }
  for await (const { id, key } of items(lists, `users/${username}/keys`, Key, options))
    keys.push({ title: `${TITLE} ${id}`, key })
  const at = account.created_at === undefined ? null : momentOf(account.created_at)
  return {
    username: account.login,
    name: account.name?.trim() || account.login,
    email: isCloud ? (account.email ?? null) : null,
    isAdmin: !isCloud && account.site_admin === true,
    state: account.suspended_at ? 'blocked' : 'active',
    ...(at !== null && { createdAt: at }),
    keys
  }
}

/** Yields the names of all accounts: only an administrator of an own server needs them. */
export async function* userNames(lists: Lists): AsyncGenerator<string> {
  for await (const account of items(lists, 'users', Account, { what: 'user' }))
    if ((account.type ?? 'User') === 'User' && personOf(account) !== null) yield account.login
}

export async function* organizationNames(lists: Lists, isAdmin: boolean): AsyncGenerator<string> {
  const path = isAdmin ? 'organizations' : 'user/orgs'
  for await (const { login } of items(lists, path, Login, { what: 'group' }))
    if (/^[\w.-]{1,200}$/.test(login) && !/^\.{1,2}$/.test(login)) yield login
}

const LEVELS_OF_ALL: { readonly [permission: string]: SourceMember['level'] } = { read: 20, write: 30, admin: 40 }

export async function* readGroups(lists: Lists, isAdmin: boolean): AsyncGenerator<SourceGroup> {
  const { client, skipped } = lists
  for await (const name of organizationNames(lists, isAdmin)) {
    const found = fittingOne((await client.find(`orgs/${name}`))?.body, checkOrganization, { what: 'group', skipped })
    if (!found) continue
    // Not specified: on GitHub, other members get what the organization grants all of them, which only owners see. Without it, they
    // become guests.
    const other = LEVELS_OF_ALL[found.default_repository_permission ?? ''] ?? 10
    const members: SourceMember[] = []
    for (const [role, level] of [
      ['admin', 50],
      ['member', other]
    ] as const) {
      const path = `orgs/${name}/members?role=${role}`
      for await (const { login } of items(lists, path, Login, { what: `member of ${name}`, optional: true }))
        members.push({ username: login, level })
    }
    const visibility = (found.public_repos ?? 0) > 0 ? 'public' : 'private'
    yield {
      path: found.login,
      name: found.name?.trim() || found.login,
      description: found.description ?? null,
      visibility,
      members
    }
  }
}

/**
 * Not specified: on GitHub, `read` shows the code, as a reporter sees it here. Roles that an organization has defined itself are based
 * on one of these; `permissions` has it.
 */
function levelOf({ permissions = {} }: { readonly permissions?: { readonly [name: string]: boolean } }): 20 | 30 | 40 {
  if (permissions.admin || permissions.maintain) return 40
  return permissions.push ? 30 : 20
}

export async function* memberDrafts(reading: Reading, { created_at }: Repository) {
  const path = `${reading.repo}/collaborators?affiliation=all`
  for await (const found of items(reading, path, Collaborator, { what: 'member', optional: true })) {
    if (personOf(found) === null) continue
    yield {
      kind: 'member',
      username: found.login,
      access_level: levelOf(found),
      expires_at: null,
      created_at: firstMoment(created_at)
    } as const
  }
}
