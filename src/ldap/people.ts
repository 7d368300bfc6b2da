// Finds people in a directory. Filters are made of values, never of text, so no character of a login can change them.
import { AndFilter, type Entry, EqualityFilter, type Filter, FilterParser, OrFilter } from 'ldapts'
import type { Connection, Search } from './connection.js'
import type { Directory } from './directory.js'
import { attributesOf, idValues } from './person.js'

/**
 * Returns the entries whose username is this login, or whose address is, if the login is one. There are at most two, because more
 * than one is a fault of the directory.
 */
export function findEntries(connection: Connection, directory: Directory, login: string): Promise<Entry[]> {
  const { username, email } = directory.attributes
  const by = (attribute: string) => new EqualityFilter({ attribute, value: login })
  const which = login.includes('@') ? new OrFilter({ filters: [by(username), by(email)] }) : by(username)
  return connection.search(directory.base, { ...searchOf(directory, which), sizeLimit: 2 })
}

/** Entries that one search by ids asks for. */
export const IDS_AT_ONCE = 50

/** Returns the entries with these ids, which are at most IDS_AT_ONCE. The id of an entry without an id is its DN. */
export async function entriesOf(
  connection: Connection,
  directory: Directory,
  uids: readonly string[]
): Promise<Entry[]> {
  const { id: attribute } = directory.attributes
  const values = uids.flatMap(uid => idValues(uid, attribute))
  const byId = new OrFilter({ filters: values.map(value => new EqualityFilter({ attribute, value })) })
  const found = await connection.search(directory.base, searchOf(directory, byId))
  for (const dn of uids.filter(uid => uid.includes('='))) {
    found.push(...(await connection.search(dn, { ...searchOf(directory), scope: 'base', optional: true })))
  }
  return found
}

/** Returns the entry of a person, if there is any. */
export const findAnyone = (connection: Connection, directory: Directory): Promise<Entry[]> =>
  connection.search(directory.base, { ...searchOf(directory), sizeLimit: 1 })

/** Returns all people of a directory, in pages. */
export const readEntries = (connection: Connection, directory: Directory): AsyncGenerator<Entry[]> =>
  connection.pages(directory.base, searchOf(directory))

function searchOf(directory: Directory, which?: Filter): Search {
  const people = FilterParser.parseString(directory.filter)
  return {
    scope: 'sub',
    filter: which ? new AndFilter({ filters: [people, which] }) : people,
    attributes: attributesOf(directory),
    bytes: directory.attributes.id
  }
}
