// The client who makes a request, and its rights.
import { hostname } from 'node:os'
import { Unauthorized } from '../errors.js'
import { currentClient } from '../lib/request-scope.js'
import { EVERYTHING, type Scope } from './scopes.js'

export interface ActorUser {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: boolean
  readonly external: boolean
}

export interface Actor {
  readonly user: ActorUser | null
  /** The credentials of the caller; null for nobody. */
  readonly by:
    | 'private'
    | 'personal'
    | 'oauth'
    | 'session'
    | 'password'
    | 'build'
    | 'ssh'
    | 'deploy_key'
    | 'command'
    /** A system with which people sign in, such as a provider of OpenID Connect. */
    | 'provider'
    /** A signed link in a mail. */
    | 'link'
    /** A reply by mail. */
    | 'mail'
    | null
  /** The administrator who acts as `user`. */
  readonly sudoer: ActorUser | null
  /** What the credentials may be used for. */
  readonly scopes: readonly Scope[]
  /** The fingerprint of the deploy key that opened the connection. It has no user, and a level only in its projects. */
  readonly deployKey?: string
  /** By when the user of a session must set up a second factor. Afterwards the session opens nothing else. */
  readonly factorDueAt?: Date
  /** The project of a build that no user started, such as the build of a trigger: its token reads only this project. */
  readonly buildOf?: number
}

/** Returns the owner of the slots that git uses: a user, or all clients of one address, who share them. */
export const slotOwner = ({ user }: Actor): string => (user ? `user ${user.id}` : `address ${currentClient()}`)

export const nobody: Actor = { user: null, by: null, sudoer: null, scopes: [] }

/** The actor of credentials that allow everything that their user may do. */
export const actorOf = (user: ActorUser, by: NonNullable<Actor['by']>): Actor => ({
  user,
  by,
  sudoer: null,
  scopes: EVERYTHING
})

/** Returns whether the days in which the user of a session could set up a second factor are over. */
export const isFactorOverdue = ({ factorDueAt: due }: Actor): boolean =>
  due !== undefined && due.getTime() <= Date.now()

/** Returns the caller, for routes about the user's own records. Throws Unauthorized for nobody. */
export function askerOf({ user }: Actor): ActorUser {
  if (!user) throw new Unauthorized()
  return user
}

/** The person who makes a change, and where the request comes from. The audit keeps it. */
export interface Origin {
  /** The person behind the change: with sudo, the administrator. Null for a command or the schedule. */
  readonly user: ActorUser | null
  /** The username, or the system account that ran a command. */
  readonly name: string
  /** The user in whose name the change is made: with sudo, the user whom the administrator acts as; otherwise `user`. */
  readonly asker: ActorUser | null
  /** The username of the user whom an administrator acts as. */
  readonly actingAs: string | null
  readonly via: NonNullable<Actor['by']> | 'schedule' | 'nobody' | 'scim'
  /** The address of the client; the host name for a command. */
  readonly address: string | null
}

/** The origin of a change that this actor makes. */
export function originOf({ user, by, sudoer }: Actor, address: string | null): Origin {
  const person = sudoer ?? user
  return {
    user: person,
    asker: user,
    name: person?.username ?? 'nobody',
    actingAs: sudoer ? (user?.username ?? null) : null,
    via: by ?? 'nobody',
    address
  }
}

/** The origin of changes that the schedule causes. */
export const scheduleOrigin = (): Origin => ({
  user: null,
  asker: null,
  name: 'schedule',
  actingAs: null,
  via: 'schedule',
  address: hostname().slice(0, 64)
})

/** Returns the user in whose name a change is made. Throws Unauthorized for a command or the schedule, which have no user. */
export function requireAsker({ asker }: Origin): ActorUser {
  if (!asker) throw new Unauthorized()
  return asker
}
