// Who must have a second factor (`identity.two_factor` in the configuration). People have some days to set one up, from the first
// request in which they had to have one.
import { ACTOR_USER, type ActorUserColumns } from '../../../../access/actor-user.js'
import { lasts } from '../../../../access/membership.js'
import { config } from '../../../../config.js'
import { execute, type Fragment, lowerMarks, row, rows } from '../../../../db/connect/sql.js'
import { SecondFactorNeeded } from '../../../../errors.js'

const DAY_MS = 86_400_000

export interface DutyColumns extends ActorUserColumns {
  readonly two_factor_at: Date | null
  readonly two_factor_asked_at: Date | null
  readonly in_strict_group: number
}

/** The columns of a statement that reads `users u`. Their values come before those of its conditions. */
export function dutyColumns(): Fragment {
  const { groups } = config().identity.two_factor
  // A group that was renamed stays strict: its owner could rename it.
  const strict = `select id from namespaces where path_key in (${lowerMarks(groups)})
    union select namespace_id from namespace_redirects where path_key in (${lowerMarks(groups)})`
  const inGroup = `exists (select 1 from members m where m.user_id = u.id and m.source_type = 'namespace' and ${lasts('m')}
    and m.source_id in (${strict}))`
  return {
    sql: `u.two_factor_at, u.two_factor_asked_at, ${groups.length > 0 ? inGroup : '0'} as in_strict_group`,
    values: [...groups, ...groups]
  }
}

/** Returns the paths that are not those of groups. Such a line of the configuration requires nothing of anybody. */
export async function missingGroups(paths: readonly string[]): Promise<string[]> {
  const found = await rows<{ path: string }>(
    `select path_key as path from namespaces where kind = 'group' and path_key in (${lowerMarks(paths)})`,
    paths
  )
  const known = new Set(found.map(({ path }) => path))
  return paths.filter(path => !known.has(path.toLowerCase()))
}

/** Reads the columns of one user; undefined for a user who was deleted a moment ago. */
export function readDuty(id: number): Promise<DutyColumns | undefined> {
  const { sql, values } = dutyColumns()
  return row<DutyColumns>(`select ${ACTOR_USER}, ${sql} from users u where u.id = ?`, [...values, id])
}

/** Returns whether a provider checks the second factor of the people whom it signs in. */
export const checksFactor = (provider: string | null): boolean =>
  provider !== null && Object.hasOwn(config().identity.oidc, provider) && !config().identity.two_factor.after_provider

/**
 * Returns the time by which a user must have set up a second factor; undefined when none is required, or the user has one.
 * `provider` is that of the session.
 */
export async function factorDueAt(found: DutyColumns, provider: string | null): Promise<Date | undefined> {
  if (found.two_factor_at !== null || checksFactor(provider)) return undefined
  if (!isRequired(found)) {
    // The days begin again when it is required later.
    if (found.two_factor_asked_at !== null) await noteAsked(found.id, null)
    return undefined
  }
  const asked = found.two_factor_asked_at ?? (await noteAsked(found.id, new Date()))
  return new Date(asked.getTime() + config().identity.two_factor.grace_days * DAY_MS)
}

function isRequired({ admin, in_strict_group }: DutyColumns): boolean {
  const { required } = config().identity.two_factor
  return required === 'everyone' || (required === 'administrators' && admin === 1) || in_strict_group === 1
}

async function noteAsked<T extends Date | null>(id: number, at: T): Promise<T> {
  await execute('update users set two_factor_asked_at = ? where id = ?', [at, id])
  return at
}

/**
 * Throws SecondFactorNeeded for the password of a user who has a second factor, or should have one by now, where nothing can ask
 * for it.
 */
export async function refusePasswordWithoutFactor(found: DutyColumns): Promise<void> {
  if (found.two_factor_at !== null) throw new SecondFactorNeeded()
  const due = await factorDueAt(found, null)
  if (due && due.getTime() <= Date.now()) throw new SecondFactorNeeded()
}
