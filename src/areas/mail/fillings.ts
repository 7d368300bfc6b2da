// What a mail shows beside its facts, made for each recipient when the mail is sent: signed links, and what must be true at
// that moment. Areas above fill it for their kinds; worker/handlers.ts imports them.
import type { MailFacts, MailKind } from '../../mail/kinds.js'

export interface Addressee {
  readonly userId: number | null
  readonly address: string
}

/** Returns the values of `it.filled` of the templates; null when nobody wants the mail any more. */
type Fill<Kind extends MailKind> = (
  facts: MailFacts[Kind],
  to: Addressee
) => Promise<Readonly<Record<string, unknown>> | null>

const fillings = new Map<MailKind, Fill<MailKind>>()

/** Sets what fills the mails of a kind. It may read the database; it must not write, as a mail is tried several times. */
export function fillMail<Kind extends MailKind>(kind: Kind, fill: Fill<Kind>): void {
  fillings.set(kind, fill as Fill<MailKind>)
}

/** Returns what a mail shows beside its facts; null when nobody wants it any more. */
export async function fillingOf(
  kind: MailKind,
  facts: MailFacts[MailKind],
  to: Addressee
): Promise<Readonly<Record<string, unknown>> | null> {
  const fill = fillings.get(kind)
  return fill ? fill(facts, to) : {}
}
