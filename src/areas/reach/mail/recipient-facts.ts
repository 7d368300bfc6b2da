// What a mail shows in addition to its facts. It is made for each recipient when the mail is sent: signed links, and facts that
// must be current. Higher areas provide it for their kinds of mail.
import { plug } from '../../../lib/plug.js'
import type { MailFacts, MailKind } from '../../../mail/kinds.js'

export interface Addressee {
  readonly userId: number | null
  readonly address: string
}

type Values = Readonly<Record<string, unknown>>

/**
 * Maps each kind of mail that has such values to a function that returns `it.filled` for the templates; null when the mail is no
 * longer needed. The function may read the database but not write to it, because a mail is tried several times.
 */
export type RecipientFacts<Kind extends MailKind = MailKind> = {
  readonly [Each in Kind]: (facts: MailFacts[Each], to: Addressee) => Promise<Values | null>
}

export const recipientFacts =
  plug<RecipientFacts<'sign-up' | 'invitation' | 'address-confirmation' | 'password-reset'>>('recipientFacts')

/** Returns what a mail shows in addition to its facts; null when it is no longer needed. */
export async function fillingOf(kind: MailKind, facts: MailFacts[MailKind], to: Addressee): Promise<Values | null> {
  const all: Partial<RecipientFacts> = await recipientFacts()
  const fill = all[kind] as ((facts: MailFacts[MailKind], to: Addressee) => Promise<Values | null>) | undefined
  return fill ? fill(facts, to) : {}
}
