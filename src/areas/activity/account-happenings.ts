// What happens to accounts and memberships, of which nobody hears but by mail.
import type { Doer } from './doers.js'
import type { MemberSnapshot, MemberSourceSnapshot } from './snapshots.js'

export type AccountHappening =
  /** The level or the end of a membership is another one. */
  | { readonly kind: 'member.changed'; readonly member: MemberSnapshot; readonly by: Doer }
  | {
      readonly kind: 'access.requested'
      readonly source: MemberSourceSnapshot
      readonly user: { readonly id: number; readonly username: string; readonly name: string }
    }
  /** Somebody else than the user who had asked removed a request for access. */
  | {
      readonly kind: 'access.denied'
      readonly source: MemberSourceSnapshot
      readonly userId: number
      readonly by: Doer
    }
  /** A further address of a user, which is not confirmed yet. */
  | {
      readonly kind: 'email.added'
      readonly userId: number
      readonly email: { readonly id: number; readonly address: string }
      readonly by: Doer
    }
  /** The primary address is another one. `confirmed`: the user had confirmed it before, as a further address. */
  | {
      readonly kind: 'email.changed'
      readonly userId: number
      readonly before: string
      readonly after: string
      readonly confirmed: boolean
      readonly by: Doer
    }
  | { readonly kind: 'password.changed'; readonly userId: number; readonly by: Doer }
  /** A personal access token, or another private token; `name` is empty for that. */
  | {
      readonly kind: 'token.created'
      readonly userId: number
      readonly token: { readonly kind: 'personal' | 'private'; readonly name: string }
      readonly by: Doer
    }
  /** A password was right from an address where the user was not within 90 days. */
  | { readonly kind: 'sign_in.from_new_address'; readonly userId: number; readonly address: string }
  /**
   * Somebody on a page who perhaps has no account asks for a mail to this address: a link for a new password, or one that
   * confirms the address. Who gets one is found out by the listener, so that the page answers the same for all, in the same time.
   */
  | { readonly kind: 'mail.asked'; readonly what: 'password' | 'confirmation'; readonly address: string }
  /** An administrator sends a user a link for a new password. */
  | { readonly kind: 'password.offered'; readonly userId: number }
  /** Somebody has signed up and must confirm the address. */
  | { readonly kind: 'sign_up.asked'; readonly signUpId: number }

/** For the tables of those who do not hear of them. */
export const MAILED_ALONE: { readonly [Kind in AccountHappening['kind']]: null } = {
  'member.changed': null,
  'access.requested': null,
  'access.denied': null,
  'email.added': null,
  'email.changed': null,
  'password.changed': null,
  'token.created': null,
  'sign_in.from_new_address': null,
  'mail.asked': null,
  'password.offered': null,
  'sign_up.asked': null
}
