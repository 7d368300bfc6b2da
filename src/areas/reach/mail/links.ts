// Links, mostly in mails, that prove that their user got the mail. They are signed when the mail is rendered, so that no secret is in the
// database, in a job or in a backup.
import { timingSafeEqual } from 'node:crypto'
import { publicUrl } from '../../../config.js'
import { signature } from '../../../secrets.js'
import type { TargetType } from '../../planning/participation/targets.js'

/** Maps each purpose to the values of its links. A link for one purpose is not valid for another. */
export interface LinkValues {
  /** Ends the mail about a target, about the pipelines of a project, or about a whole project. */
  readonly unsubscribe: {
    readonly userId: number
    readonly projectId: number
    readonly target?: { readonly type: TargetType; readonly id: number }
    readonly pipelines?: true
  }
  /** Makes the first administrator. */
  readonly first_administrator: Readonly<Record<string, never>>
  /** Creates the user of a sign-up. */
  readonly sign_up: { readonly id: number; readonly proof: string }
  /** Accepts an invitation. */
  readonly invitation: { readonly id: number; readonly proof: string }
  /** `address` confirms an address, `password` sets a new password. `emailId` is 0 for the primary address. */
  readonly address: OfAddress
  readonly password: OfAddress
}

interface OfAddress {
  readonly userId: number
  readonly emailId: number
  readonly proof: string
}

export type LinkPurpose = keyof LinkValues

/** The paths of the pages that the links open. */
const PAGES: { readonly [Purpose in LinkPurpose]: string } = {
  unsubscribe: '/-/unsubscribe',
  first_administrator: '/users/first_administrator',
  sign_up: '/users/sign_up/confirm',
  invitation: '/invitations',
  address: '/users/confirmation',
  password: '/users/password/edit'
}

/** The limit of characters of a token. Ours are shorter. */
const LONGEST = 2048

/**
 * Returns the URL of a page with a token of the values, which anyone can read, and a signature. The link is invalid after
 * `expires`; null means that it never expires. To make a link work only once, put the digest of what its use changes into the
 * values.
 */
export function signedLink<Purpose extends LinkPurpose>(
  purpose: Purpose,
  values: LinkValues[Purpose],
  expires: Date | null
): string {
  const end = expires === null ? 0 : Math.floor(expires.getTime() / 1000)
  const body = Buffer.from(JSON.stringify([values, end])).toString('base64url')
  const token = `${body}.${signature(`link ${purpose}`, body).toString('base64url')}`
  return `${publicUrl()}${PAGES[purpose]}?token=${token}`
}

/** Returns the values of a link by its token; null when it was not signed for this purpose, or has expired. */
export function readLink<Purpose extends LinkPurpose>(purpose: Purpose, token: string): LinkValues[Purpose] | null {
  const [, body, signed] = /^([\w-]+)\.([\w-]{43})$/.exec(token.slice(0, LONGEST + 1)) ?? []
  if (body === undefined || signed === undefined || token.length > LONGEST) return null
  if (!timingSafeEqual(Buffer.from(signed, 'base64url'), signature(`link ${purpose}`, body))) return null
  const [values, end] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [LinkValues[Purpose], number]
  return end !== 0 && end * 1000 < Date.now() ? null : values
}
