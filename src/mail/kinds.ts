// The kinds of mails. Each has two templates, templates/mail/KIND.txt.eta, whose first line is the subject, and
// KIND.html.eta. They show `it`, see `Shown` in render.ts. Both stand inside the layouts, which say why somebody gets the mail.

/**
 * Maps each kind to its facts: values of JSON, which are stored until the mail is sent. Never a secret: links that prove
 * something are signed when the mail is rendered (areas/mail/fillings.ts).
 */
export interface MailFacts {
  /** `gitstead mail test`: a mail that nothing caused. */
  readonly test: { readonly sent_at: string }
  /** What the limit of mails in an hour has held back. The texts are put in when it is sent. */
  readonly digest: Record<never, never>
}

export type MailKind = keyof MailFacts
