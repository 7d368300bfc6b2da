// Where the projects of the source go: groups to groups, and the projects of a person to the namespace of the same person here.
import { row } from '../../../db/connect/sql.js'
import { Conflict } from '../../../errors.js'
import { requireUser } from '../../people/users/users.queries.js'
import type { Skipped, Source, SourceGroup, SourceProject } from '../sources/source.js'
import { pathHere } from './convert.js'
import { anAdmin, bringGroup, claimOf, namespacePath, takenText } from './groups.js'
import { allKnownPeople, keyOf, peopleOptions, resolvePeople } from './people.js'
import type { Session } from './session.js'

const MOST_GROUPS = 100_000

export interface Namespaces {
  /** Makes the namespace of a project here, if it is missing. Returns its path, and the user who becomes the creator. */
  of(project: SourceProject): Promise<{ readonly namespace: string; readonly username: string }>
  /** Where a project of the source is here, or will be. */
  pathOf(path: string): string | null
  /** The groups of the source that were brought for projects so far. */
  brought(): readonly string[]
}

/** Throws Conflict for the path of a project of the source that no forge gives. */
export function checkSourcePath(path: string): void {
  const parts = path.split('/')
  const isWrong = (part: string) => part.trim() === '' || /^\.{1,2}$|\p{Cc}|\\|\.git$/iu.test(part)
  if (parts.length < 2 || parts.some(isWrong))
    throw new Conflict(
      'its path at the source is refused: it is not NAMESPACE/PROJECT, or a part is empty, is . or .., has control characters or ends in .git; rename the project there'
    )
}

export async function openNamespaces(session: Session, source: Source, skipped: Skipped): Promise<Namespaces> {
  const groups = new Map<string, SourceGroup>()
  for await (const group of source.groups(session.unreadable.skipped)) {
    if (groups.size === MOST_GROUPS) throw new Conflict(`the source has more than ${MOST_GROUPS} groups`)
    groups.set(group.path.toLowerCase(), group)
  }
  const { migration } = session
  const map = new Map(Object.entries(migration.map).map(([from, to]) => [from.toLowerCase(), to]))
  const people = await allKnownPeople(session.place)
  const brought: string[] = []
  const ready = new Map<string, { readonly namespace: string; readonly username: string }>()

  async function prepare(path: string): Promise<{ readonly namespace: string; readonly username: string }> {
    const mapped = map.get(path.toLowerCase())
    if (mapped !== undefined) return { namespace: mapped, username: await creatorIn(mapped) }
    const group = groups.get(path.toLowerCase())
    if (group) {
      await bring(group)
      const namespace = namespacePath(group.path)
      return { namespace, username: await creatorIn(namespace) }
    }
    const found = await resolvePeople(source, new Set([path]), peopleOptions(session), session.origin)
    const username = found.get(keyOf(path)) ?? path
    people.set(keyOf(path), username)
    return { namespace: username, username }
  }

  async function bring(group: SourceGroup): Promise<void> {
    const claim = await claimOf(migration, group.path)
    if (!claim) throw new Conflict(takenText(group.path))
    const usernames = new Set(group.members.map(({ username }) => username))
    const members = await resolvePeople(source, usernames, peopleOptions(session), session.origin)
    brought.push(group.path)
    await bringGroup(group, { migration, claim, people: members, skipped }, session.origin)
  }

  return {
    of: async ({ path }) => {
      const namespace = path.split('/').slice(0, -1).join('/')
      const known = ready.get(namespace) ?? (await prepare(namespace))
      ready.set(namespace, known)
      return known
    },
    pathOf: path => {
      const parts = path.split('/')
      const namespace = parts.slice(0, -1).join('/')
      const here = map.get(namespace.toLowerCase()) ?? people.get(keyOf(namespace)) ?? namespacePath(namespace)
      return parts.length < 2 ? null : `${here}/${pathHere(parts.at(-1) ?? '')}`
    },
    brought: () => brought
  }
}

/** In a group without an owner who can sign in, an administrator becomes the creator of the projects. */
async function creatorIn(namespace: string): Promise<string> {
  const owner = await row<{ username: string }>(
    `select u.username from namespaces n left join members m on m.source_type = 'namespace' and m.source_id = n.id and m.access_level = 50
       join users u on u.id = coalesce(n.owner_id, m.user_id) and (u.state = 'active' or n.owner_id is not null)
     where n.path_key = lower(?) order by m.id limit 1`,
    [namespace]
  )
  return owner?.username ?? (await anAdmin()).username
}

/** Throws NoSuch for a user whom the sysadmin has named and who does not exist. */
export async function checkPeople(people: { readonly [username: string]: string }): Promise<void> {
  for (const username of new Set(Object.values(people))) await requireUser(username)
}
