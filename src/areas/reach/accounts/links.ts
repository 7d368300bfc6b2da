// The signed links in mails about accounts. They are made when a mail is sent. A mail whose link is no longer needed is not sent.

import { signedLink } from '../mail/links.js'
import type { recipientFacts } from '../mail/recipient-facts.js'
import { CONFIRMATION_DAYS, confirmationProof, unconfirmed } from './confirmations.js'
import { endOfInvitation, invitationProof } from './invitations/invitations.js'
import { findInvitation, INVITATION_DAYS } from './invitations/invitations.queries.js'
import { proofOf } from './link-proofs.js'
import { RESET_HOURS, resetProof, resettable } from './passwords.js'
import { endOfSignUp, findSignUp } from './sign-ups.js'

const HOUR_MS = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS)

export const accountLinks: Awaited<ReturnType<typeof recipientFacts>> = {
  'sign-up': async ({ signUpId }) => {
    const found = await findSignUp(signUpId)
    if (!found) return null
    const values = { id: found.id, proof: proofOf(found.password_hash) }
    return { link: signedLink('sign_up', values, endOfSignUp(found)) }
  },
  invitation: async ({ invitationId }) => {
    const found = await findInvitation(invitationId)
    if (!found) return null
    const values = { id: found.id, proof: invitationProof(found) }
    return { link: signedLink('invitation', values, endOfInvitation(found)), days: INVITATION_DAYS }
  },
  'address-confirmation': async ({ userId, emailId }, { address }) => {
    const found = await unconfirmed(userId, emailId)
    if (found?.address !== address) return null
    const values = { userId, emailId, proof: confirmationProof(found) }
    return { link: signedLink('address', values, inHours(24 * CONFIRMATION_DAYS)), days: CONFIRMATION_DAYS }
  },
  'password-reset': async ({ userId }, { address }) => {
    const found = await resettable(userId)
    if (found?.address !== address) return null
    const values = { userId, emailId: 0, proof: resetProof(found) }
    return { link: signedLink('password', values, inHours(RESET_HOURS)), hours: RESET_HOURS }
  }
}
