// The directories of the configuration, and what a person of a directory is here.
import { config } from '../../../../config.js'
import { type Connection, withDirectory } from '../../../../ldap/connection.js'
import type { Directory } from '../../../../ldap/directory.js'
import { type Grants, grantsIn } from '../../../../ldap/grants.js'
import { groupsOf, type KnownGroups, needsGroups } from '../../../../ldap/groups.js'
import type { DirectoryPerson } from '../../../../ldap/person.js'
import type { Person } from '../provision.js'

/** Returns the directories, in the order in which they are asked. */
export const directories = (): Directory[] =>
  Object.entries(config().identity.ldap).map(([name, settings]) => ({ name, ...settings }))

export const directoryNamed = (name: string): Directory | undefined =>
  directories().find(directory => directory.name === name)

const NOTHING: Grants = { admin: undefined, external: undefined, groups: new Map() }

/** Returns what the groups of a person give; null when the person is in too many groups to know it. */
export async function grantsOf(
  connection: Connection,
  directory: Directory,
  person: DirectoryPerson,
  known: KnownGroups = new Map()
): Promise<Grants | null> {
  if (!needsGroups(directory)) return NOTHING
  const groups = await groupsOf(connection, directory, person, known)
  return groups && grantsIn(directory, groups)
}

/** The same with a connection of its own, if groups matter at all. */
export const lookUpGrants = async (directory: Directory, person: DirectoryPerson): Promise<Grants | null> =>
  needsGroups(directory) ? withDirectory(directory, connection => grantsOf(connection, directory, person)) : NOTHING

/** Returns the person for `createPerson` and `updatePerson`. Without grants, the directory does not decide about rights. */
export function personHere(
  { name: provider, trust_email }: Directory,
  { uid, username, name, email, sshKeys }: DirectoryPerson,
  grants: Grants | null
): Person {
  const { admin, external, groups } = grants ?? {}
  return {
    provider,
    externUid: uid,
    username,
    name,
    email: email ?? '',
    emailVerified: trust_email,
    ...(admin !== undefined && { admin }),
    ...(external !== undefined && { external }),
    ...(groups && { groups }),
    ...(sshKeys && { sshKeys })
  }
}
