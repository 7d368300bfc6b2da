// The kinds of clients that the matrix uses, and how an expectation names them.

/** The actors that call every route. */
export const ACTORS = [
  'nobody',
  'stranger',
  'external',
  'guest',
  'reporter',
  'developer',
  'master',
  'owner',
  'admin',
  'blocked',
  'readUser',
  'wrong'
] as const
export type ActorName = (typeof ACTORS)[number]

/** More actors for routes about a project or a group: their level comes from a group or a share, or has expired. */
export const INDIRECT = ['groupDeveloper', 'sharedReporter', 'expired'] as const
export type IndirectName = (typeof INDIRECT)[number]

export type Statuses = { readonly [Name in ActorName]: number }

type Expected = { readonly [Name in ActorName | 'others']?: number }

/** Returns the status for each actor; `others` is for actors that are not listed. */
export function statuses(expected: Expected): Statuses {
  return Object.fromEntries(ACTORS.map(name => [name, expected[name] ?? expected.others ?? 0])) as Statuses
}

/** Credentials without access: those of a blocked user, a token without the scope, a token that does not exist. */
const REFUSED = { blocked: 401, readUser: 401, wrong: 401 }

export const EVERYBODY = statuses({ others: 200 })
/** Every actor except those with wrong credentials. */
export const ANYBODY = statuses({ ...REFUSED, others: 200 })
export const SIGNED_IN = statuses({ ...REFUSED, nobody: 401, others: 200 })
export const SIGNED_IN_OR_READ_USER = statuses({ ...SIGNED_IN, readUser: 200 })
export const ADMINISTRATOR = statuses({ ...REFUSED, nobody: 401, admin: 200, others: 403 })
/**
 * Routes that accept a token with the scope read_user. Its user is not an administrator here, so the routes refuse it.
 */
export const ADMINISTRATOR_OR_READ_USER = statuses({ ...ADMINISTRATOR, readUser: 403 })

/** Returns the same expectation with another status for a success. */
export const answering = (status: number, expected: Statuses): Statuses =>
  statuses(Object.fromEntries(Object.entries(expected).map(([name, code]) => [name, code === 200 ? status : code])))

export const created = (expected: Statuses): Statuses => answering(201, expected)

// Expectations of routes about a project or a group.

const CREDENTIALS = { ...REFUSED, nobody: 401 }

/**
 * A private project: members with at least this level get 200, other members 403, and users who are not members 404.
 */
export function membersFrom(
  least: 'guest' | 'reporter' | 'developer' | 'master' | 'owner',
  nobody: 401 | 404
): Statuses {
  const order = ['guest', 'reporter', 'developer', 'master', 'owner'] as const
  const members = order.map((name, at) => [name, at >= order.indexOf(least) ? 200 : 403] as const)
  return statuses({
    ...CREDENTIALS,
    nobody,
    stranger: 404,
    external: 404,
    admin: 200,
    ...Object.fromEntries(members)
  })
}

/** A project that others can see too: members with at least this level get 200, all other users 403. */
export const membersOfOpen = (least: 'reporter' | 'developer' | 'master' | 'owner'): Statuses =>
  statuses({ ...membersFrom(least, 401), stranger: 403, external: 403 })

/** An internal project is hidden from external users. */
export const internally = (expected: Statuses, nobody: 401 | 404): Statuses =>
  statuses({ ...expected, external: 404, nobody })

export const FORBIDDEN = statuses({ ...CREDENTIALS, others: 403 })
