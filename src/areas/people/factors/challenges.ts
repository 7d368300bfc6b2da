// Challenges for passkeys. A challenge carries its own expiry and signature, so asking for one writes no row. It is valid for one
// purpose in one browser, for a few minutes, and once.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { signature, tokenHash } from '../../../secrets.js'
import { acceptForm } from '../../ground/forms/sent-forms.js'

/** What an answer to a challenge may be used for. */
export type Purpose = 'passkey.add' | 'passkey.sign_in' | 'passkey.second_step'

/** Seconds in which a person answers. */
export const CHALLENGE_S = 600

const EXPIRY_BYTES = 6
const RANDOM_BYTES = 16
const BODY_BYTES = EXPIRY_BYTES + RANDOM_BYTES

/** Returns a new challenge. `browser` is a secret of the browser that asks, such as its session cookie. */
export function newChallenge(purpose: Purpose, browser: string): Buffer {
  const body = Buffer.alloc(BODY_BYTES)
  body.writeUIntBE(Date.now() + CHALLENGE_S * 1000, 0, EXPIRY_BYTES)
  randomBytes(RANDOM_BYTES).copy(body, EXPIRY_BYTES)
  return Buffer.concat([body, sign(body, purpose, browser)])
}

/** Returns whether this browser got the challenge for this purpose a short time ago. */
export function isChallenge(text: string, purpose: Purpose, browser: string): boolean {
  const bytes = Buffer.from(text, 'base64url')
  const [body, given] = [bytes.subarray(0, BODY_BYTES), bytes.subarray(BODY_BYTES)]
  const expected = sign(body, purpose, browser)
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  return body.readUIntBE(0, EXPIRY_BYTES) > Date.now()
}

/** Uses a challenge up. Returns false when it was used before. The marks of sent forms are kept for longer than it is valid. */
export const takeChallenge = (text: string): Promise<boolean> =>
  acceptForm(tokenHash(`challenge ${Buffer.from(text, 'base64url').toString('base64url')}`))

const sign = (body: Buffer, purpose: Purpose, browser: string): Buffer =>
  signature(`a challenge for ${purpose}`, `${tokenHash(browser).toString('hex')} ${body.toString('hex')}`)
