// People and groups of GitLab.

import { ahead } from '../../sources/ahead.js'
import type { Client } from '../../sources/client.js'
import { checked, dayOf, fitting, fittingOne, momentOf } from '../../sources/shapes.js'
import type { Person, Skipped, SourceGroup, SourceMember, SourceUser } from '../../sources/source.js'
import { type Author, Group, Key, Member, Self, User } from './shapes.js'

/** Requests at once. */
const AT_ONCE = 4
const GUEST_LEVEL = 10

const checkSelf = checked(Self)
const checkUser = checked(User)
const checkKey = checked(Key)
const checkMember = checked(Member)
const checkGroup = checked(Group)

/** Returns the username. GitLab gives what deleted users wrote to the account `ghost`. */
export const personOf = (author: Author): Person => (author && author.username !== 'ghost' ? author.username : null)

export async function readSelf(client: Client) {
  const self = checkSelf((await client.get('user')).body)
  return { username: self?.username ?? '', isAdmin: self?.is_admin === true }
}

export async function readUser(client: Client, username: string, skipped: Skipped): Promise<SourceUser | null> {
  const report = { what: 'user', skipped }
  const list = (await client.find(`users?username=${encodeURIComponent(username)}`))?.body
  const found = fittingOne(Array.isArray(list) ? list[0] : undefined, checkUser, report)
  if (found?.username.toLowerCase() !== username.toLowerCase() || found.username === 'ghost') return null
  const whole = fittingOne((await client.find(`users/${found.id}`))?.body, checkUser, report)
  return withKeys(client, whole ?? found, skipped)
}

async function withKeys(client: Client, user: User, skipped: Skipped): Promise<SourceUser> {
  const report = { what: `key of ${user.username}`, skipped }
  const keys: { title: string; key: string }[] = []
  for await (const page of client.list(`users/${user.id}/keys?per_page=100`, { optional: true }))
    for (const { title, key } of fitting(page, checkKey, report)) keys.push({ title: title ?? '', key })
  const createdAt = momentOf(user.created_at)
  return {
    username: user.username,
    name: user.name,
    email: verifiedOf(user),
    isAdmin: user.is_admin === true,
    state: (user.state ?? 'active') === 'active' ? 'active' : 'blocked',
    ...(createdAt !== null && { createdAt }),
    keys
  }
}

/** An administrator sees whether the address is confirmed. Only confirmed addresses can be public. */
const verifiedOf = ({ email, confirmed_at, public_email }: User): string | null =>
  (email && confirmed_at ? email : null) || public_email || null

export async function* readGroups(client: Client, skipped: Skipped): AsyncGenerator<SourceGroup> {
  const { isAdmin } = await readSelf(client)
  const pages = client.list(`groups?per_page=100&order_by=id&sort=asc${isAdmin ? '' : '&min_access_level=10'}`)
  async function* groups() {
    for await (const page of pages) yield* fitting(page, checkGroup, { what: 'group', skipped })
  }
  yield* ahead(groups(), AT_ONCE, async ({ id, name, full_path: path, description = null, visibility }) => ({
    path,
    name,
    description,
    visibility: visibility ?? 'private',
    // Members of a parent group are members of its subgroups. Here, groups have no subgroups.
    members: await readMembers(client, `groups/${id}/members/all`, { what: `member of ${path}`, skipped })
  }))
}

/** Returns the members of a list, each with the highest level. */
export async function readMembers(
  client: Client,
  path: string,
  { highest = 50, ...report }: { readonly what: string; readonly skipped: Skipped; readonly highest?: number }
): Promise<SourceMember[]> {
  const members = new Map<string, SourceMember>()
  for await (const page of client.list(`${path}?per_page=100`, { optional: true })) {
    for (const { username, access_level, expires_at } of fitting(page, checkMember, report)) {
      const level = levelOf(Math.min(access_level, highest))
      if (level === null || username === 'ghost' || (members.get(username)?.level ?? 0) >= level) continue
      members.set(username, { username, level, expiresAt: dayOf(expires_at) })
    }
  }
  return [...members.values()]
}

/** Newer versions have levels in between, such as 15 for planners, and 5 for users who see no more than a group. */
const levelOf = (level: number): SourceMember['level'] | null =>
  ([50, 40, 30, 20, GUEST_LEVEL] as const).find(each => level >= each) ?? null
