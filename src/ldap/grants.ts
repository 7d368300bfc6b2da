// What the groups of a directory give: memberships, and the rights of an administrator or external user.
import { levelsIn } from '../lib/grants.js'
import type { Directory } from './directory.js'
import { sameDn } from './dn.js'

export interface Grants {
  /** Undefined when the configuration names no such group: then the directory does not decide it. */
  readonly admin: boolean | undefined
  readonly external: boolean | undefined
  /** The path of a group here, in lower case -> the highest level that a group of the directory gives there. */
  readonly groups: ReadonlyMap<string, number>
}

/** Returns what a person gets who is in these groups, whose names `sameDn` has made. */
export function grantsIn({ groups }: Directory, of: ReadonlySet<string>): Grants {
  const isIn = (dn: string | null) => (dn === null ? undefined : of.has(sameDn(dn)))
  const given = levelsIn(groups.members, dn => of.has(sameDn(dn)))
  return { admin: isIn(groups.admin), external: isIn(groups.external), groups: given }
}
