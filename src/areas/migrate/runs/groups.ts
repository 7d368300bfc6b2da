// Groups of the source become groups here, with their members. A group that was here before stays as it is: the sysadmin names it.
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
import { keyOf, type PeopleHere } from './people.js'

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

/**
 * Creates a group with its members, or adds the members that it lacks when this migration has created it before. Throws Conflict for a
 * namespace that was here before.
 */
export async function bringGroup(
  group: SourceGroup,
  { people, isOwn, skipped }: { readonly people: PeopleHere; readonly isOwn: boolean; readonly skipped: Skipped },
  origin: Origin
): Promise<void> {
  const path = namespacePath(group.path)
  const known = await row<{ kind: string }>('select kind from namespaces where path_key = lower(?)', [path])
  if (known && !isOwn)
    throw new Conflict(
      `the namespace ${path} exists here: choose another for ${group.path}, or the same one, with --map`
    )
  if (!known) {
    if (pathProblem(path, 'namespace'))
      throw new Conflict(`${path} cannot be the path of a group: choose one with --map`)
    const name = lineProblem(group.name) === null ? group.name : path
    const description = (group.description ?? '').replace(/[^\P{Cc}\t\r\n]/gu, ' ').slice(0, 255)
    const body = { name, path, description, visibility_level: LEVELS[group.visibility] }
    await createGroup(body, origin, await ownerOf(group, people))
  }
  for (const member of group.members) await bringMember(path, member, people, origin).catch(skipFailure(skipped))
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
