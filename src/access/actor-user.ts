// The columns of a user who acts. Statements that find the user of some credentials read them from `users u`.
import type { ActorUser } from './actor.js'

export interface ActorUserColumns {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: number
  readonly external: number
}

const COLUMNS = ['id', 'username', 'name', 'email', 'admin', 'external']

export const ACTOR_USER = COLUMNS.map(column => `u.${column}`).join(', ')

/** The same columns for a statement that already has columns with these names. */
export interface PrefixedActorUser {
  readonly actor_id: number
  readonly actor_username: string
  readonly actor_name: string
  readonly actor_email: string
  readonly actor_admin: number
  readonly actor_external: number
}

export const PREFIXED_ACTOR_USER = COLUMNS.map(column => `u.${column} as actor_${column}`).join(', ')

export const withoutPrefix = (row: PrefixedActorUser): ActorUserColumns => ({
  id: row.actor_id,
  username: row.actor_username,
  name: row.actor_name,
  email: row.actor_email,
  admin: row.actor_admin,
  external: row.actor_external
})

export const actorUserOf = ({ id, username, name, email, admin, external }: ActorUserColumns): ActorUser => ({
  id,
  username,
  name,
  email,
  admin: admin === 1,
  external: external === 1
})
