// A sign-in that still needs its second factor. The browser keeps it in a sealed cookie: it is worth nothing without the factor, and
// does not survive a change of the password or of the factors.
import { randomUUID, timingSafeEqual } from 'node:crypto'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { row } from '../../../db/connect/sql.js'
import { signature } from '../../../secrets.js'
import type { SignIn } from '../credentials/credentials.js'
import { checksFactor } from '../credentials/second-factor/duty.js'
import { DORMANT } from '../users/suspension.js'

export interface PendingSignIn {
  /** Challenges for passkeys are bound to it. */
  readonly id: string
  readonly userId: number
  readonly provider: string | null
  readonly providerSession?: string
  /** Of the password and the factors at that time. */
  readonly digest: string
}

interface Account extends ActorUserColumns {
  readonly password_hash: string
  readonly two_factor_at: Date | null
}

/** The factor that a provider has checked. */
const BY_PROVIDER = 'provider'

/** Returns what the browser keeps of a sign-in that needs a second factor; null when it is complete. */
export async function pendingSignIn(signIn: SignIn): Promise<PendingSignIn | null> {
  const { user, provider, factor, providerSession } = signIn
  const isProven = factor !== null && (factor !== BY_PROVIDER || checksFactor(provider))
  if (isProven) return null
  const account = await findAccount(user.id)
  // The session of a user who was blocked a moment ago opens nothing.
  if (!account?.two_factor_at) return null
  return {
    id: randomUUID(),
    userId: user.id,
    provider,
    ...(providerSession !== undefined && { providerSession }),
    digest: digestOf(account)
  }
}

/** Returns the sign-in, to be completed with a factor; null when the account has changed since. */
export async function resumeSignIn(pending: PendingSignIn): Promise<SignIn | null> {
  const { userId, provider, providerSession, digest } = pending
  const account = await findAccount(userId)
  if (!account?.two_factor_at || !isSame(digest, digestOf(account))) return null
  return {
    user: actorUserOf(account),
    provider,
    factor: null,
    ...(providerSession !== undefined && { providerSession })
  }
}

const findAccount = (id: number): Promise<Account | undefined> =>
  row<Account>(
    `select ${ACTOR_USER}, u.password_hash, u.two_factor_at from users u
     where u.id = ? and (u.state = 'active' or u.block_reason = '${DORMANT}')`,
    [id]
  )

const digestOf = ({ id, password_hash, two_factor_at }: Account): string =>
  signature('a pending sign-in', JSON.stringify([id, password_hash, two_factor_at])).toString('base64url')

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
