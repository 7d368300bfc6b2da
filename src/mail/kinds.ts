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
  /** Somebody must confirm what they have entered; or an account has the address already. */
  readonly 'sign-up': NewAccount & { readonly signUpId: number }
  readonly 'sign-up-taken': NewAccount & { readonly signUpId: number }
  readonly 'account-created': NewAccount
  /** `emailId` is 0 for the primary address. `first`: the user cannot sign in before. */
  readonly 'address-confirmation': NewAccount & {
    readonly userId: number
    readonly emailId: number
    readonly address: string
    readonly first: boolean
  }
  readonly 'password-reset': NewAccount & {
    readonly userId: number
    readonly emailId: number
    readonly byAdministrator: boolean
  }
  /** What the owner of an account must know, whoever did it. */
  readonly security: {
    readonly username: string
    readonly title: string
    readonly details: readonly (readonly [label: string, value: string])[]
    readonly advice: string
    readonly at: string
    readonly byAdministrator: boolean
  }
  readonly membership: Access & { readonly what: 'added' | 'changed'; readonly level: string }
  readonly 'access-request': Access & { readonly what: 'requested' | 'denied' }
  readonly 'project-moved': {
    readonly name: string
    readonly before: string
    readonly path: string
    readonly by: string
  }
}

interface NewAccount {
  readonly username: string
  readonly name: string
}

/** `by` is a person, or `An administrator`. */
interface Access {
  readonly of: 'project' | 'group'
  readonly path: string
  readonly by: string
}

export type MailKind = keyof MailFacts
