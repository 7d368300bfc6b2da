// Copies of users, keys, groups and memberships for events. Each field is listed, because the rows also contain secrets.

export interface UserSnapshot {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly created_at: Date
  readonly updated_at: Date
}

export interface KeySnapshot {
  readonly id: number
  /** The public key as the owner entered it. */
  readonly key: string
  /** The name of the owner. */
  readonly username: string
  readonly created_at: Date
}

/** A deploy key belongs to no user. */
export interface DeployKeySnapshot {
  readonly id: number
  readonly key: string
  readonly created_at: Date
  readonly updated_at: Date
}

interface UserRecord {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export const userSnapshot = (user: UserRecord): UserSnapshot => ({
  id: user.id,
  username: user.username,
  name: user.name,
  email: user.email,
  created_at: user.createdAt,
  updated_at: user.updatedAt
})

export const keySnapshot = (
  key: { readonly id: number; readonly public_key: string; readonly created_at: Date },
  owner: { readonly username: string }
): KeySnapshot => ({ id: key.id, key: key.public_key, username: owner.username, created_at: key.created_at })

/** A deploy key never changes, so the time of its update is the time of its creation. */
export const deployKeySnapshot = (key: {
  readonly id: number
  readonly public_key: string
  readonly created_at: Date
}): DeployKeySnapshot => ({ id: key.id, key: key.public_key, created_at: key.created_at, updated_at: key.created_at })

export interface GroupSnapshot {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** A membership with its user, and with the project or group. */
export interface MemberSnapshot {
  readonly access_level: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly user: Pick<UserSnapshot, 'id' | 'username' | 'name' | 'email'>
  readonly source: MemberSourceSnapshot
}

export type MemberSourceSnapshot =
  | {
      readonly type: 'project'
      readonly id: number
      readonly name: string
      readonly path: string
      readonly path_with_namespace: string
      readonly visibility_level: number
    }
  | { readonly type: 'namespace'; readonly id: number; readonly name: string; readonly path: string }

export const groupSnapshot = ({ id, name, path, created_at, updated_at }: GroupSnapshot): GroupSnapshot => ({
  id,
  name,
  path,
  created_at,
  updated_at
})
