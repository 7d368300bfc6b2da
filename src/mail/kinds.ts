// The kinds of mails. Each has two templates, templates/mail/KIND.txt.eta, whose first line is the subject, and
// KIND.html.eta. They show `it`, see `Shown` in render.ts. Both stand inside the layouts, which say why somebody gets the mail.

/**
 * Maps each kind to its facts: values of JSON, which are stored until the mail is sent. Never a secret: links that prove
 * something are signed when the mail is rendered (areas/reach/mail/recipient-facts.ts).
 */
export interface MailFacts {
  /** `gitstead mail test`: a mail that nothing caused. */
  readonly test: { readonly sent_at: string }
  readonly issue: RecordFacts
  readonly 'merge-request': RecordFacts
  readonly note: NoteFacts
  readonly pipeline: PipelineFacts
  readonly build: BuildFacts
  readonly push: PushFacts
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

/** What mails about a project have in common. */
interface ProjectFacts {
  /** NAMESPACE/PROJECT. */
  readonly project: string
  /** The page of what the mail is about. */
  readonly url: string
}

/** An issue or a merge request was created or changed. */
export interface RecordFacts extends ProjectFacts {
  /** Whether it begins the conversation. */
  readonly is_new: boolean
  /** Such as `#12`. */
  readonly reference: string
  readonly title: string
  /** Who did what: `Ada Lovelace closed the issue`. */
  readonly happened: string
  /** What has changed, or what it has been planned for: `Assignee: Ada Lovelace`. */
  readonly lines: readonly string[]
  /** The description of what is new, in Markdown. */
  readonly text: string | null
}

/** Somebody wrote about an issue, a merge request, a snippet or a commit. */
export interface NoteFacts extends ProjectFacts {
  readonly reference: string
  readonly title: string
  readonly happened: string
  /** The line of a file that it is about: `src/main.c, line 3`. */
  readonly place: string | null
  /** In Markdown. */
  readonly text: string
}

/** A build has ended. */
export interface BuildFacts extends ProjectFacts {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly ref: string
  readonly commit: string
  readonly title: string
}

/** A branch or a tag was pushed, made or deleted. */
export interface PushFacts extends ProjectFacts {
  /** `Ada Lovelace (@ada) pushed to the branch master`. */
  readonly happened: string
  readonly ref: string
  /** `1234abcd Fix it, by Ada Lovelace`: the newest ones, and how many there are. */
  readonly commits: readonly string[]
  readonly commits_total: number
  /** `added src/main.c`: the first ones, and how many there are. */
  readonly paths: readonly string[]
  readonly paths_total: number
  /** What has changed, as git shows it; null when it is left out. */
  readonly diff: string | null
  /** In whose name it comes, where the service asks for it and the address is of a domain of the appliance. */
  readonly from?: Sender | null
}

/** Who sends a mail, or seems to. */
export interface Sender {
  readonly name: string
  readonly address: string
}

/** A pipeline has ended. */
export interface PipelineFacts extends ProjectFacts {
  readonly id: number
  readonly status: string
  readonly ref: string
  /** The beginning of the id of the commit, and the first line of its message. */
  readonly commit: string
  readonly title: string
  /** `STAGE: NAME` of the builds that failed, the first ones, and how many there are. */
  readonly failed: readonly string[]
  readonly failed_total: number
}

export type MailKind = keyof MailFacts
