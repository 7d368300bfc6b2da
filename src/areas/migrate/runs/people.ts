// Who the people of a source are here: the user with the same confirmed address, or whom the sysadmin names, or else a placeholder. What
// was decided once stays.
import type { Origin } from '../../../access/actor.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Failure } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { insertPlaceholder } from '../../people/users/ghost/placeholders.js'
import { insertReadKey, readKey } from '../../people/users/keys.js'
import { requireUser } from '../../people/users/users.queries.js'
import { ahead } from '../sources/ahead.js'
import type { Skipped, Source, SourceUser } from '../sources/source.js'
import type { Session } from './session.js'

const AT_ONCE = 500
const REQUESTS_AT_ONCE = 8
const LONGEST = 255

/** The usernames here of people of a source, by their usernames there in lower case. */
export type PeopleHere = ReadonlyMap<string, string>

export interface PeopleOptions {
  /** Identifies the source in the database. */
  readonly place: string
  /** Usernames there -> here, as the sysadmin gave them. */
  readonly given: { readonly [username: string]: string }
  /** Matched users also get their SSH keys. */
  readonly keys: boolean
  /** Addresses match also where the source does not say who has proved them. */
  readonly trust: boolean
  readonly unreadable: Skipped
}

/** Returns how a migration finds people. */
export function peopleOptions({ place, migration, unreadable }: Session): PeopleOptions {
  const { people, keys, trust = false } = migration
  return { place, given: people, keys, trust, unreadable: unreadable.skipped }
}

/** The end must not cut a character: the database would store another one. */
export const keyOf = (username: string): string => username.toLowerCase().slice(0, LONGEST).toWellFormed()

/** Returns the people whose users here are known already. */
export async function knownPeople(place: string, usernames: Iterable<string>): Promise<Map<string, string>> {
  const known = new Map<string, string>()
  for (const some of batches([...new Set([...usernames].map(keyOf))], AT_ONCE)) {
    const found = await rows<{ username: string; here: string }>(
      `select p.username, u.username as here from migrated_people p join users u on u.id = p.user_id
       where p.source = ? and p.username in (${marks(some)})`,
      [place, ...some]
    )
    for (const { username, here } of found) known.set(username, here)
  }
  return known
}

/** Returns all people of a source whose users here are known. */
export async function allKnownPeople(place: string): Promise<Map<string, string>> {
  const found = await rows<{ username: string; here: string }>(
    'select p.username, u.username as here from migrated_people p join users u on u.id = p.user_id where p.source = ?',
    [place]
  )
  return new Map(found.map(({ username, here }) => [username, here]))
}

export interface Match {
  readonly username: string
  readonly user: SourceUser | null
  /** Null: the person gets a placeholder. */
  readonly here: { readonly id: number; readonly username: string } | null
}

/** Finds out who people are here, without a write. One request to the source for each. */
export async function* matchPeople(
  source: Source,
  usernames: readonly string[],
  { given, keys, trust, unreadable }: PeopleOptions
): AsyncGenerator<Match> {
  const names = new Map(Object.entries(given).map(([there, here]) => [keyOf(there), here]))
  // Keys that nobody gets are no fault.
  const skipped: Skipped = (what, why, item) => (keys || what === 'user') && unreadable(what, why, item)
  yield* ahead(usernames, REQUESTS_AT_ONCE, async username => {
    const user = await source.user(username, skipped)
    const named = names.get(keyOf(username))
    if (named !== undefined) return { username, user, here: await requireUser(named) }
    if (user === null || user.isVerified !== false) return { username, user, here: await userWithAddress(user?.email) }
    // People can enter the address of somebody else there. It never brings a key, with which they could sign in here.
    const email = trust ? user.email : null
    return { username, user: { ...user, email, keys: [] }, here: await userWithAddress(email) }
  })
}

/** Only a confirmed address proves that it is the same person. */
async function userWithAddress(email: string | null | undefined): Promise<{ id: number; username: string } | null> {
  if (!email) return null
  const found = await row<{ id: number; username: string }>(
    `select u.id, u.username from users u where u.email_key = lower(?) and u.email_confirmed_at is not null and u.state = 'active'
     union select u.id, u.username from emails e join users u on u.id = e.user_id and u.state = 'active'
     where e.email_key = lower(?) and e.confirmed_at is not null limit 1`,
    [email, email]
  )
  return found ?? null
}

/** Returns who all these people are here, and makes placeholders for those who have no account. */
export async function resolvePeople(
  source: Source,
  usernames: ReadonlySet<string>,
  options: PeopleOptions,
  origin: Origin
): Promise<Map<string, string>> {
  const people = await knownPeople(options.place, usernames)
  const unknown = [...new Map([...usernames].map(name => [keyOf(name), name]))].flatMap(([key, name]) =>
    people.has(key) ? [] : [name]
  )
  for await (const match of matchPeople(source, unknown, options)) {
    people.set(keyOf(match.username), await settle(match, options, origin))
  }
  return people
}

async function settle(
  { username, user, here }: Match,
  { place, keys }: PeopleOptions,
  origin: Origin
): Promise<string> {
  const settled = await transact(async () => {
    const account = here ?? (await insertPlaceholder({ username, name: user?.name || username }, origin))
    await execute(
      `insert into migrated_people (source, username, user_id, is_placeholder, email, created_at) values (?, ?, ?, ?, ?, ?)`,
      [place, keyOf(username), account.id, here === null, user?.email?.slice(0, LONGEST) ?? null, new Date()]
    )
    return account
  })
  if (keys && here) for (const key of user?.keys ?? []) await addKey(here, key, origin)
  return settled.username
}

/** A key that the rules refuse stays away: the owner can add it. */
async function addKey(
  owner: { readonly id: number; readonly username: string },
  key: { readonly title: string; readonly key: string },
  origin: Origin
): Promise<void> {
  try {
    await insertReadKey(owner, await readKey(key), origin)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
  }
}
