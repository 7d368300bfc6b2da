// Who asks, and by what right.

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
  /** How the asker proved who they are; null for nobody. */
  readonly by: 'private' | 'personal' | 'session' | 'password' | 'build' | 'command' | null
  /** The administrator who acts as `user`. */
  readonly sudoer: ActorUser | null
}

export const nobody: Actor = { user: null, by: null, sudoer: null }
