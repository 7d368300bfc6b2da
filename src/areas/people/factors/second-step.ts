// Compares the codes that people enter: as the second step of the sign-in, and before they change their factors.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid } from '../../../errors.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { attempt, CODES, isRefused } from '../credentials/login-throttle.js'
import { isPasswordOf } from '../credentials/password-sign-in.js'
import { isAppCode, useAppCode } from './authenticator-app.js'
import type { Owner } from './changes.js'
import { recoveryCodeIn, useRecoveryCode } from './recovery-codes.js'

export type CodeKind = 'totp' | 'recovery_code'

/**
 * Uses up a code of the authenticator app, or a recovery code. Returns which of them it was; null for a wrong code. Throws
 * TooManyRequests after too many wrong ones, and then the owner gets a mail.
 */
export async function takeCode(owner: Owner, text: string, origin: Origin): Promise<CodeKind | null> {
  const account = `second factor of user ${owner.id}`
  const address = origin.address ?? ''
  const kind = await attempt(account, address, () => kindOf(owner, text.trim(), origin), CODES)
  if (kind === null && isRefused(account, address, CODES)) {
    const change = { what: 'codes_guessed' } as const
    const by = doerOf(origin, owner.id)
    await transact(() => publish({ kind: 'second_factor.changed', userId: owner.id, change, by }))
  }
  return kind
}

async function kindOf(owner: Owner, text: string, origin: Origin): Promise<CodeKind | null> {
  // People copy codes with the space that apps show in the middle.
  const digits = text.replaceAll(' ', '')
  if (isAppCode(digits)) return (await useAppCode(owner.id, digits)) ? 'totp' : null
  const code = recoveryCodeIn(text)
  return code !== undefined && (await useRecoveryCode(owner, code, origin)) ? 'recovery_code' : null
}

/**
 * Makes sure that the owner of an account changes its factors, and not somebody at an open browser: with the password or a code.
 * Throws Invalid, and TooManyRequests after too many wrong ones.
 */
export async function confirmOwner(owner: Owner, text: string, origin: Origin): Promise<void> {
  // A password has at least 8 characters.
  const isRight = isAppCode(text.trim())
    ? (await takeCode(owner, text, origin)) !== null
    : await isPasswordOf(owner.id, text, origin.address ?? '')
  if (!isRight) throw new Invalid('confirmation', 'is wrong')
}
