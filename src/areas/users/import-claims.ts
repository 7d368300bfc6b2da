// What only one user can have: an address, a name, an identity. Known before the write, as a refusal then costs no hash.
import { marks, padded, rows } from '../../db/sql.js'
import type { UserBody } from './users.schema.js'

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

/** What of a claim is taken, in the order of the requirement; null when it is free. */
export function conflictOf(
  { email, username, identity }: Claim,
  { emails, usernames, identities }: Claims
): string | null {
  if (emails.has(email)) return 'Email has already been taken'
  if (usernames.has(username)) return 'Username has already been taken'
  if (identity !== null && identities.has(identity)) return 'Extern uid has already been taken'
  return null
}

/** Those claims of these users that somebody in the database has: three statements, whatever their number. */
export async function takenAmong(users: readonly UserBody[]): Promise<Claims> {
  if (users.length === 0) return noClaims()
  const emails = padded(users.map(({ email }) => email))
  const usernames = padded(users.map(({ username }) => username))
  const uids = padded(users.flatMap(({ extern_uid: uid }) => (uid === undefined ? [] : [uid])))
  const [heldEmails, heldNames, heldIdentities] = await Promise.all([
    rows<{ email: string }>(
      `select email from users where email in (${marks(emails)})
       union all select email from emails where email in (${marks(emails)})`,
      [...emails, ...emails]
    ),
    rows<{ path: string }>(`select path from namespaces where path in (${marks(usernames)})`, usernames),
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

const identityKey = (provider: string, externUid: string) => `${keyOf(provider)}\0${keyOf(externUid)}`

/** Nearly as the database compares: without case and accents. What differs is found when it is written. */
const keyOf = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
