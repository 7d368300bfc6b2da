// What a browser keeps while its user is at a provider, and after the user came back as somebody whom nobody here knows.
import type { Secrets } from '../../../oidc/flow.js'
import type { Sealed } from './sealed-cookie.js'

/** A sign-in that has begun. */
export interface Intent {
  readonly provider: string
  readonly secrets: Secrets
  readonly returnTo?: string | undefined
  /** The user who connects an account at the provider, instead of signing in with it. */
  readonly connect?: number
}

export const INTENT: Sealed<Intent> = { name: '_service_provider', minutes: 15 }

/** An account at a provider that its owner has proved, and that no user here has yet. */
export interface Unlinked {
  readonly provider: string
  readonly externUid: string
  /** What the person recognises: the address or username there. */
  readonly known: string
}

export const UNLINKED: Sealed<Unlinked> = { name: '_service_unlinked', minutes: 15 }
