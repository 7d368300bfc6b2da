// What a mail shows beside its facts, made for each recipient when the mail is sent: signed links, and what must be true at
// that moment. Areas above make it for their kinds of mail.
import { plug } from '../../../lib/plug.js'
import type { MailFacts, MailKind } from '../../../mail/kinds.js'

export interface Addressee {
  readonly userId: number | null
  readonly address: string
}

type Values = Readonly<Record<string, unknown>>

/**
 * For each kind of mail that has some, a function that returns the values of `it.filled` of the templates; null when nobody wants the
 * mail any more. It may read the database; it must not write, as a mail is tried several times.
 */
export type RecipientFacts<Kind extends MailKind = MailKind> = {
  readonly [Each in Kind]: (facts: MailFacts[Each], to: Addressee) => Promise<Values | null>
}

export const recipientFacts =
  plug<RecipientFacts<'sign-up' | 'address-confirmation' | 'password-reset'>>('recipientFacts')

/** Returns what a mail shows beside its facts; null when nobody wants it any more. */
export async function fillingOf(kind: MailKind, facts: MailFacts[MailKind], to: Addressee): Promise<Values | null> {
  const all: Partial<RecipientFacts> = await recipientFacts()
  const fill = all[kind] as ((facts: MailFacts[MailKind], to: Addressee) => Promise<Values | null>) | undefined
  return fill ? fill(facts, to) : {}
}
