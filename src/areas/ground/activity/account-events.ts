// Events of accounts and memberships that only mail reports.
import type { Doer } from './authors.js'
import type { MemberSnapshot, MemberSourceSnapshot } from './snapshots.js'

export type AccountEvent =
  /** The access level or the expiry date of a membership changed. */
  | { readonly kind: 'member.changed'; readonly member: MemberSnapshot; readonly by: Doer }
  | {
      readonly kind: 'access.requested'
      readonly source: MemberSourceSnapshot
      readonly user: { readonly id: number; readonly username: string; readonly name: string }
    }
  /** A person other than the requester removed a request for access. */
  | {
      readonly kind: 'access.denied'
      readonly source: MemberSourceSnapshot
      readonly userId: number
      readonly by: Doer
    }
  /** A user added a secondary email address, which is not confirmed yet. */
  | {
      readonly kind: 'email.added'
      readonly userId: number
      readonly email: { readonly id: number; readonly address: string }
      readonly by: Doer
    }
  /** The primary address changed. `confirmed`: it was a confirmed secondary address before. */
  | {
      readonly kind: 'email.changed'
      readonly userId: number
      readonly before: string
      readonly after: string
      readonly confirmed: boolean
      readonly by: Doer
    }
  | { readonly kind: 'password.changed'; readonly userId: number; readonly by: Doer }
  /** A personal access token was created, or the private token changed; `name` is empty for a private token. */
  | {
      readonly kind: 'token.created'
      readonly userId: number
      readonly token: { readonly kind: 'personal' | 'private'; readonly name: string }
      readonly by: Doer
    }
  /** A user signed in with the password from an address that they had not used for 90 days. */
  | { readonly kind: 'sign_in.from_new_address'; readonly userId: number; readonly address: string }
  /** A user can sign in with an account at a provider now, or no longer. */
  | {
      readonly kind: 'identity.changed'
      readonly userId: number
      readonly linked: boolean
      readonly provider: string
      readonly externUid: string
      readonly by: Doer
    }
  /** A second factor of a user was added, removed or used up. */
  | {
      readonly kind: 'second_factor.changed'
      readonly userId: number
      readonly change: FactorChange
      readonly by: Doer
    }
  /**
   * A visitor requests mail to this address: a link for a new password, or one that confirms the address. The listener
   * finds out whether an account has the address, so that the page gives everybody the same answer in the same time.
   */
  | { readonly kind: 'mail.asked'; readonly what: 'password' | 'confirmation'; readonly address: string }
  /** An administrator sends a user a link for a new password. */
  | { readonly kind: 'password.offered'; readonly userId: number }
  /** A person signed up and must confirm the address. */
  | { readonly kind: 'sign_up.asked'; readonly signUpId: number }
  /** Administrators must approve a new account. */
  | { readonly kind: 'approval.asked'; readonly userId: number }
  | { readonly kind: 'approval.given'; readonly userId: number }
  /** Nobody has used the account for long: it will be blocked in `notice` days, which is `days` after the last use. */
  | { readonly kind: 'user.dormant'; readonly userId: number; readonly days: number; readonly notice: number }
  /** Somebody is invited to a project or group. */
  | { readonly kind: 'invitation.sent'; readonly invitationId: number }
  /** A mirror has failed several times in a row. */
  | { readonly kind: 'mirror.failed'; readonly mirrorId: number }
  /** The account is deleted. */
  | { readonly kind: 'approval.denied'; readonly username: string; readonly name: string; readonly email: string }

export type FactorChange =
  | { readonly what: 'app_added' | 'app_removed' | 'recovery_codes_renewed' | 'reset' | 'codes_guessed' }
  | { readonly what: 'passkey_added' | 'passkey_removed'; readonly name: string }
  | { readonly what: 'recovery_code_used'; readonly left: number }

/** For the tables of listeners that ignore these events. */
export const MAIL_ONLY: { readonly [Kind in AccountEvent['kind']]: null } = {
  'member.changed': null,
  'access.requested': null,
  'access.denied': null,
  'email.added': null,
  'email.changed': null,
  'password.changed': null,
  'token.created': null,
  'sign_in.from_new_address': null,
  'identity.changed': null,
  'second_factor.changed': null,
  'mail.asked': null,
  'password.offered': null,
  'sign_up.asked': null,
  'approval.asked': null,
  'approval.given': null,
  'approval.denied': null,
  'user.dormant': null,
  'invitation.sent': null,
  'mirror.failed': null
}
