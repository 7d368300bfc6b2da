// Links in mails that prove that whoever opens them got the mail. They are signed when the mail is rendered, so that no
// secret lies in the database, in a job or in a backup.
import { timingSafeEqual } from 'node:crypto'
import { publicUrl } from '../../../config.js'
import { signature } from '../../../secrets.js'
import type { TargetType } from '../../planning/participation/targets.js'

/** Maps each purpose to what its links say. A link for one purpose is worth nothing for another. */
export interface LinkValues {
  /** Ends the mail about a target, or without one the mail about a project. */
  readonly unsubscribe: {
    readonly userId: number
    readonly projectId: number
    readonly target?: { readonly type: TargetType; readonly id: number }
  }
  /** Makes the user of a sign-up. */
  readonly sign_up: { readonly id: number; readonly proof: string }
  /** Confirms an address, and sets another password; `emailId` is 0 for the primary address. */
  readonly address: OfAddress
  readonly password: OfAddress
}

interface OfAddress {
  readonly userId: number
  readonly emailId: number
  readonly proof: string
}

export type LinkPurpose = keyof LinkValues

/** The paths of the pages to which the links lead. */
const PAGES: { readonly [Purpose in LinkPurpose]: string } = {
  unsubscribe: '/-/unsubscribe',
  sign_up: '/users/sign_up/confirm',
  address: '/users/confirmation',
  password: '/users/password/edit'
}

/** Characters of a token. Ours are shorter. */
const LONGEST = 2048

/**
 * Returns the URL of a page with a token that holds the values, readable by all, and a signature. After `expires` the link
 * is worth nothing; null means never. To make a link work only once, put the digest of what its use changes into the values.
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

/** Returns the values of a link by its token; null when it was not signed for this purpose, or has ended. */
export function readLink<Purpose extends LinkPurpose>(purpose: Purpose, token: string): LinkValues[Purpose] | null {
  const [, body, signed] = /^([\w-]+)\.([\w-]{43})$/.exec(token.slice(0, LONGEST + 1)) ?? []
  if (body === undefined || signed === undefined || token.length > LONGEST) return null
  if (!timingSafeEqual(Buffer.from(signed, 'base64url'), signature(`link ${purpose}`, body))) return null
  const [values, end] = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as [LinkValues[Purpose], number]
  return end !== 0 && end * 1000 < Date.now() ? null : values
}
