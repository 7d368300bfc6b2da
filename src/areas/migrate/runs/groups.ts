// Groups of the source become groups here, with their members. A group that was here before stays as it is: the sysadmin names it.
import { join } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Failure } from '../../../errors.js'
import { INTERNAL, OWNER, PRIVATE, PUBLIC } from '../../../lib/levels.js'
import { pathProblem } from '../../../lib/path.js'
import { lineProblem } from '../../../lib/text-line.js'
import { createGroup } from '../../people/members/group-creation.js'
import { becomeMember, holdSource, lockLasting } from '../../people/members/members.js'
import { requireSource } from '../../people/members/sources.js'
import type { Skipped, SourceGroup, SourceMember } from '../sources/source.js'
import type { Migration } from './migrations.js'
import { keyOf, type PeopleHere } from './people.js'
import { readJson, writeJson } from './work-folder.js'

const LEVELS = { private: PRIVATE, internal: INTERNAL, public: PUBLIC }

/** The path here of a namespace there: namespaces here have no subgroups. */
export const namespacePath = (path: string): string => path.replaceAll('/', '-')

/** Returns a user who acts for groups and projects without an owner who can sign in. */
export async function anAdmin(): Promise<{ readonly id: number; readonly username: string }> {
  const found = await row<{ id: number; username: string }>(
    "select id, username from users where admin = true and state = 'active' order by id limit 1"
  )
  if (!found) throw new Conflict('the appliance has no active administrator: create one first')
  return found
}

/** Returns the first owner who can sign in here, or else an administrator. */
async function ownerOf({ members }: SourceGroup, people: PeopleHere): Promise<{ readonly id: number }> {
  for (const { username, level } of members) {
    const here = level === OWNER ? people.get(keyOf(username)) : undefined
    const sql = "select id from users where username_key = lower(?) and state = 'active'"
    const found = here === undefined ? undefined : await row<{ id: number }>(sql, [here])
    if (found) return found
  }
  return anAdmin()
}

interface Claim {
  /** The path at the source, in lower case. */
  readonly from: string
  /** The group here; null when it must be made. */
  readonly id: number | null
  /** The members of the source who have come, as `keyOf` writes them. */
  readonly members: readonly string[]
}

const GROUPS = 'groups.json'
const keyOfPath = (path: string) => namespacePath(path).toLowerCase()

/** The groups that a migration has made, by their paths here. An earlier program has kept only the paths at the source. */
async function claimsOf({ folder }: Migration): Promise<Map<string, Claim | string>> {
  return new Map(Object.entries((await readJson<{ [path: string]: Claim | string }>(join(folder, GROUPS))) ?? {}))
}

/**
 * Returns what a migration has of a group of the source; null when its place here is taken by anything else. Two groups of the source
 * may get the same path: `a-b` and the subgroup `b` of `a`. Only the first one has it, because the members of each must not get the
 * projects of the other.
 */
export async function claimOf(migration: Migration, path: string): Promise<Claim | null> {
  const from = path.toLowerCase()
  const kept = (await claimsOf(migration)).get(keyOfPath(path))
  const known = typeof kept === 'string' ? { from: kept, id: null, members: [] } : kept
  if (known && known.from !== from) return null
  const found = await row<{ id: number }>('select id from namespaces where path_key = lower(?)', [namespacePath(path)])
  // When somebody has deleted the group, it comes again. Another one may have its path since.
  if (!found) return { from, id: null, members: [] }
  return known && (known.id ?? found.id) === found.id ? { ...known, id: found.id } : null
}

async function keepClaim(migration: Migration, path: string, claim: Claim): Promise<void> {
  const claims = (await claimsOf(migration)).set(keyOfPath(path), claim)
  await writeJson(join(migration.folder, GROUPS), Object.fromEntries(claims))
}

/** Forgets that a migration has made the group here of a group of the source: it is gone. */
export async function disown(migration: Migration, path: string): Promise<void> {
  const claims = await claimsOf(migration)
  if (claims.delete(keyOfPath(path))) await writeJson(join(migration.folder, GROUPS), Object.fromEntries(claims))
}

export const takenText = (path: string): string =>
  `the namespace ${namespacePath(path)} exists here: choose another for ${path}, or the same one, with --map`

interface Bringing {
  readonly migration: Migration
  readonly claim: Claim
  readonly people: PeopleHere
  readonly skipped: Skipped
}

/** Creates a group unless it has come, and adds the members who have not come yet: others were removed or changed here since. */
export async function bringGroup(
  group: SourceGroup,
  { migration, claim, people, skipped }: Bringing,
  origin: Origin
): Promise<void> {
  const path = namespacePath(group.path)
  const id = claim.id ?? (await makeGroup(group, { migration, claim, people }, origin))
  const came = new Set(claim.members)
  for (const member of group.members.filter(({ username }) => !came.has(keyOf(username))))
    await bringMember(path, member, people, origin).then(() => came.add(keyOf(member.username)), skipFailure(skipped))
  if (came.size > claim.members.length) await keepClaim(migration, group.path, { ...claim, id, members: [...came] })
}

async function makeGroup(
  group: SourceGroup,
  { migration, claim, people }: Omit<Bringing, 'skipped'>,
  origin: Origin
): Promise<number> {
  const path = namespacePath(group.path)
  if (pathProblem(path, 'namespace')) throw new Conflict(`${path} cannot be the path of a group: choose one with --map`)
  const name = lineProblem(group.name) === null ? group.name : path
  const description = (group.description ?? '').replace(/[^\P{Cc}\t\r\n]/gu, ' ').slice(0, 255)
  const body = { name, path, description, visibility_level: LEVELS[group.visibility] }
  const owner = await ownerOf(group, people)
  return transact(async () => {
    const id = await createGroup(body, origin, owner)
    // Before the group exists for others, so that a killed run knows its own group again. An id that is never used does no harm.
    await keepClaim(migration, group.path, { ...claim, id })
    return id
  })
}

const skipFailure = (skipped: Skipped) => (error: unknown) => {
  if (!(error instanceof Failure)) throw error
  skipped('members of groups', error.message)
}

async function bringMember(path: string, member: SourceMember, people: PeopleHere, origin: Origin): Promise<void> {
  const username = people.get(keyOf(member.username))
  const user = username && (await row<{ id: number }>('select id from users where username_key = lower(?)', [username]))
  if (!user) return
  const { level, expiresAt = null } = member
  if (expiresAt !== null && !(new Date(expiresAt) > new Date())) return
  const source = await requireSource(path)
  await transact(async () => {
    await holdSource(source)
    const known = await lockLasting(source, user.id, origin)
    if (!known) await becomeMember(source, { userId: user.id, level: Math.min(level, OWNER), expiresAt }, origin)
  })
}
