// People and organizations of GitHub.
import type { Client } from '../sources/client.js'
import { checked, firstMoment, momentOf } from '../sources/shapes.js'
import type { SourceGroup, SourceMember, SourceUser } from '../sources/source.js'
import { items, type Reading } from './lists.js'
import { Account, Collaborator, Key, Login, Organization, personOf, type Repository } from './shapes.js'

const checkAccount = checked(Account)
const checkOrganization = checked(Organization)
const TITLE = 'GitHub'

/** Lists whose items are left out without a line in the report of a project. */
const quiet = (client: Client): Reading => ({ client, skipped: () => {}, repo: '' })

/** Returns an account; null for organizations, bots and unknown names. `isCloud`: the service verifies the addresses that it shows. */
export async function readUser(client: Client, username: string, isCloud: boolean): Promise<SourceUser | null> {
  if (!/^[\w.-]{1,200}$/.test(username) || /^\.{1,2}$/.test(username)) return null
  const account = checkAccount((await client.find(`users/${username}`))?.body)
  if (!account || (account.type ?? 'User') !== 'User' || personOf(account) === null) return null
  const keys: { title: string; key: string }[] = []
  for await (const { id, key } of items(quiet(client), `users/${username}/keys`, Key, { what: 'key', optional: true }))
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

/** Yields names of accounts: all for an administrator of an own server, otherwise the members of the organizations of the token. */
export async function* userNames(client: Client, isAdmin: boolean): AsyncGenerator<string> {
  const all = quiet(client)
  if (isAdmin) {
    for await (const account of items(all, 'users', Account, { what: 'user' }))
      if ((account.type ?? 'User') === 'User' && personOf(account) !== null) yield account.login
    return
  }
  const seen = new Set<string>()
  for await (const organization of organizationNames(client, false)) {
    for await (const { login } of items(all, `orgs/${organization}/members`, Login, {
      what: 'member',
      optional: true
    })) {
      if (!seen.has(login)) yield login
      seen.add(login)
    }
  }
}

export async function* organizationNames(client: Client, isAdmin: boolean): AsyncGenerator<string> {
  const path = isAdmin ? 'organizations' : 'user/orgs'
  for await (const { login } of items(quiet(client), path, Login, { what: 'organization' }))
    if (/^[\w.-]{1,200}$/.test(login) && !/^\.{1,2}$/.test(login)) yield login
}

const LEVELS_OF_ALL: { readonly [permission: string]: SourceMember['level'] } = { read: 20, write: 30, admin: 40 }

export async function* readGroups(client: Client, isAdmin: boolean): AsyncGenerator<SourceGroup> {
  for await (const name of organizationNames(client, isAdmin)) {
    const found = checkOrganization((await client.find(`orgs/${name}`))?.body)
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
      for await (const { login } of items(quiet(client), path, Login, { what: 'member', optional: true }))
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
