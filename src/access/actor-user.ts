// The columns of a user who acts: whoever finds out by credentials who asks reads them from `users u`.
import type { ActorUser } from './actor.js'

export interface ActorUserColumns {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly admin: number
  readonly external: number
}

export const ACTOR_USER = 'u.id, u.username, u.name, u.email, u.admin, u.external'

export const actorUserOf = ({ id, username, name, email, admin, external }: ActorUserColumns): ActorUser => ({
  id,
  username,
  name,
  email,
  admin: admin === 1,
  external: external === 1
})
