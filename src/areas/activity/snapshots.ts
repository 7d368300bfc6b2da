// Copies of users and keys for happenings. They are made field by field, because the rows also contain secrets.

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
