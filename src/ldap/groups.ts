// Finds the groups of a person, and with `nested` the groups that contain them, in three ways: the entry names them (member_of),
// the groups name their members, or Active Directory follows them itself.
import { AndFilter, EqualityFilter, ExtensibleFilter, type Filter, FilterParser, OrFilter } from 'ldapts'
import type { Connection } from './connection.js'
import type { Directory } from './directory.js'
import { sameDn } from './dn.js'
import type { DirectoryPerson } from './person.js'
import { valuesOf } from './person.js'

/** Active Directory follows groups in groups for this rule. */
const IN_CHAIN = '1.2.840.113556.1.4.1941'
/** The groups of one person. A person with more of them gets no memberships, instead of some. */
const MOST_GROUPS = 2000
/** Groups whose own groups one run remembers. */
const MOST_REMEMBERED = 20_000

/** What one run has learned about groups: the groups that directly contain each group. */
export type KnownGroups = Map<string, readonly string[]>

/** Returns whether the configuration needs the groups of people at all. */
export const needsGroups = ({ groups }: Directory): boolean =>
  groups.admin !== null || groups.external !== null || groups.members.length > 0

/** Returns the groups of a person as `sameDn` writes them; null when there are too many. */
export async function groupsOf(
  connection: Connection,
  directory: Directory,
  person: DirectoryPerson,
  known: KnownGroups
): Promise<ReadonlySet<string> | null> {
  const { nested } = directory.groups
  if (nested === 'rule') {
    const rule = new ExtensibleFilter({ rule: IN_CHAIN, matchType: 'member', value: person.dn })
    return setOf(await search(connection, directory, rule))
  }
  const direct = person.memberOf ?? (await search(connection, directory, membersOf(person.dn, person.username)))
  return nested === 'walk' ? walk(connection, directory, direct, known) : setOf(direct)
}

const setOf = (dns: readonly string[]) => (dns.length > MOST_GROUPS ? null : new Set(dns.map(sameDn)))

/** Each group is followed once, so groups that contain each other end the walk too. */
async function walk(
  connection: Connection,
  directory: Directory,
  direct: readonly string[],
  known: KnownGroups
): Promise<ReadonlySet<string> | null> {
  const found = new Set<string>()
  let next = [...direct]
  while (next.length > 0) {
    const above: string[] = []
    for (const dn of next) {
      const key = sameDn(dn)
      if (found.has(key)) continue
      found.add(key)
      if (found.size > MOST_GROUPS) return null
      const parents = known.get(key) ?? (await parentsOf(connection, directory, dn))
      if (known.size < MOST_REMEMBERED) known.set(key, parents)
      above.push(...parents)
    }
    next = above
  }
  return found
}

async function parentsOf(connection: Connection, directory: Directory, dn: string): Promise<readonly string[]> {
  const { member_of: attribute } = directory.attributes
  if (attribute === null) return search(connection, directory, membersOf(dn))
  const [entry] = await connection.search(dn, { scope: 'base', attributes: [attribute], optional: true })
  return entry ? valuesOf(entry, attribute).filter(value => typeof value === 'string') : []
}

function membersOf(dn: string, username?: string): Filter {
  const by = (attribute: string, value: string) => new EqualityFilter({ attribute, value })
  const names = username === undefined ? [] : [by('memberUid', username)]
  return new OrFilter({ filters: [by('member', dn), by('uniqueMember', dn), ...names] })
}

/** Returns the DNs of the groups that a filter finds, at most one more than a person may have. */
async function search(connection: Connection, directory: Directory, which: Filter): Promise<string[]> {
  const { base, filter } = directory.groups
  const found: string[] = []
  const filters = [FilterParser.parseString(filter), which]
  const pages = connection.pages(base ?? directory.base, {
    scope: 'sub',
    filter: new AndFilter({ filters }),
    attributes: ['1.1']
  })
  for await (const page of pages) {
    found.push(...page.map(({ dn }) => dn))
    if (found.length > MOST_GROUPS) break
  }
  return found
}
