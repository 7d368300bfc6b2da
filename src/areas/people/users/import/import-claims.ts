// Claims are values that only one user can have: an address, a name, an identity. The import checks them before it
// writes, because a refusal then does not cost a password hash.
import { lowerMarks, marks, padded, rows } from '../../../../db/connect/sql.js'
import type { UserBody } from '../users.schema.js'

export interface Claim {
  readonly email: string
  readonly username: string
  readonly identity: string | null
}

export interface Claims {
  readonly emails: Set<string>
  readonly usernames: Set<string>
  readonly identities: Set<string>
}

export const noClaims = (): Claims => ({ emails: new Set(), usernames: new Set(), identities: new Set() })

export const claimOf = ({ email, username, provider, extern_uid: externUid }: UserBody): Claim => ({
  email: keyOf(email),
  username: keyOf(username),
  identity: provider === undefined || externUid === undefined ? null : identityKey(provider, externUid)
})

export function withClaim(claims: Claims, { email, username, identity }: Claim): void {
  claims.emails.add(email)
  claims.usernames.add(username)
  if (identity !== null) claims.identities.add(identity)
}

/** Returns which part of a claim is taken, in the order of the requirement; null when all are free. */
export function conflictOf(
  { email, username, identity }: Claim,
  { emails, usernames, identities }: Claims
): string | null {
  if (emails.has(email)) return 'Email has already been taken'
  if (usernames.has(username)) return 'Username has already been taken'
  if (identity !== null && identities.has(identity)) return 'Extern uid has already been taken'
  return null
}

/** Returns the claims of these users that the database already has. Takes three statements for any number of users. */
export async function takenAmong(users: readonly UserBody[]): Promise<Claims> {
  if (users.length === 0) return noClaims()
  const emails = padded(users.map(({ email }) => email))
  const usernames = padded(users.map(({ username }) => username))
  const uids = padded(users.flatMap(({ extern_uid: uid }) => (uid === undefined ? [] : [uid])))
  const [heldEmails, heldNames, heldIdentities] = await Promise.all([
    rows<{ email: string }>(
      `select email from users where email_key in (${lowerMarks(emails)})
       union all select email from emails where email_key in (${lowerMarks(emails)})`,
      [...emails, ...emails]
    ),
    rows<{ path: string }>(`select path from namespaces where path_key in (${lowerMarks(usernames)})`, usernames),
    rows<{ provider: string; extern_uid: string }>(
      `select provider, extern_uid from identities where extern_uid in (${marks(uids)})`,
      uids
    )
  ])
  return {
    emails: new Set(heldEmails.map(({ email }) => keyOf(email))),
    usernames: new Set(heldNames.map(({ path }) => keyOf(path))),
    identities: new Set(heldIdentities.map(({ provider, extern_uid }) => identityKey(provider, extern_uid)))
  }
}

/** The key of an identity in maps and sets. */
export const identityKey = (provider: string, externUid: string) => `${provider}\0${externUid}`

/** Compares almost as the database does. The write finds the remaining conflicts. */
const keyOf = (text: string) => text.toLowerCase()
