// The kinds of mails. Each has two templates: templates/mail/KIND.txt.eta, whose first line is the subject, and KIND.html.eta.
// They use `it`, see `Shown` in render.ts. Layouts surround both and say why the person gets the mail.

/**
 * Maps each kind to its facts: JSON values, which are stored until the mail is sent. They never contain a secret: links that
 * prove something are signed when the mail is rendered (areas/reach/mail/recipient-facts.ts).
 */
export interface MailFacts {
  /** `gitstead mail test`: a mail without an event. */
  readonly test: { readonly sent_at: string }
  readonly issue: RecordFacts
  readonly 'merge-request': RecordFacts
  readonly note: NoteFacts
  readonly pipeline: PipelineFacts
  readonly build: BuildFacts
  readonly push: PushFacts
  /** Mails that the hourly limit has held back. The texts are inserted when the digest is sent. */
  readonly digest: Record<never, never>
  /** People must confirm the address that they entered, or an account already has it. */
  readonly 'sign-up': NewAccount & { readonly signUpId: number }
  readonly 'sign-up-taken': NewAccount & { readonly signUpId: number }
  readonly 'account-created': NewAccount
  /** The account will be blocked in `notice` days, because nobody has used it. */
  readonly 'account-dormant': NewAccount & { readonly days: number; readonly notice: number }
  /** An administrator must approve, has approved or has refused an account. `email` is for the administrator. */
  readonly 'account-approval': NewAccount & { readonly what: 'asked' | 'given' | 'denied'; readonly email: string }
  /** `emailId` is 0 for the primary address. `first`: the user cannot sign in until the address is confirmed. */
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
  /** What the owner of an account must know, also about changes by others. */
  readonly security: {
    readonly username: string
    readonly title: string
    readonly details: readonly (readonly [label: string, value: string])[]
    readonly advice: string
    /** The path of the page where the user can act; absent in mails of older versions. */
    readonly page?: string
    readonly at: string
    readonly byAdministrator: boolean
  }
  readonly membership: Access & { readonly what: 'added' | 'changed'; readonly level: string }
  /** Somebody is invited to become a member. */
  readonly invitation: Access & { readonly invitationId: number; readonly level: string; readonly until: string | null }
  readonly 'access-request': Access & { readonly what: 'requested' | 'denied' }
  /** A reply by mail that did not become a comment. */
  readonly 'reply-refused': {
    /** The subject of the reply. */
    readonly about: string
    /** A sentence without a full stop. */
    readonly why: string
    /** The path of the page where the user can change that; null when there is none. */
    readonly page: string | null
    /** What the user wrote. */
    readonly text: string
  }
  /** A mirror has failed several times in a row. */
  readonly 'mirror-failed': {
    readonly name: string
    readonly project: string
    readonly remote: string
    readonly failures: number
    readonly error: string
    /** The path of its page. */
    readonly page: string
  }
  readonly 'project-moved': {
    readonly name: string
    readonly before: string
    readonly path: string
    readonly by: string
    /** Whether all projects of a group or a user moved, `before` and `path` being its paths. */
    readonly all?: boolean
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
  /** The name of the person who caused the mail, which it shows as its sender; null or absent for the appliance. */
  readonly author?: string | null
  /** NAMESPACE/PROJECT. */
  readonly project: string
  /** The page of what the mail is about. */
  readonly url: string
  /** What a reply comments on; absent in mail that nobody can reply to, and in mails of older versions. */
  readonly answers?: ReplySubject
}

/** The record that a reply comments on. `Commit` has the id of a comment on it, which also says where on it. */
export interface ReplySubject {
  readonly type: 'Issue' | 'MergeRequest' | 'Snippet' | 'Commit'
  readonly id: number
}

/** An issue or a merge request was created or changed. */
export interface RecordFacts extends ProjectFacts {
  /** Whether it begins the conversation. */
  readonly is_new: boolean
  /** Whether it is about the assignee: the one of a new record, or another one. Absent in mails of older versions. */
  readonly assigns?: boolean
  /** Such as `#12`. */
  readonly reference: string
  readonly title: string
  /** What a person did: `Ada Lovelace closed the issue`. */
  readonly happened: string
  /** What has changed, or the planning of a new record: `Assignee: Ada Lovelace`. */
  readonly lines: readonly string[]
  /** Lists, such as the commits of a new merge request. */
  readonly parts?: readonly { readonly title: string; readonly lines: readonly string[] }[]
  /** The description of a new record, in Markdown. */
  readonly text: string | null
}

/** A comment on an issue, a merge request, a snippet or a commit. */
export interface NoteFacts extends ProjectFacts {
  readonly reference: string
  readonly title: string
  readonly happened: string
  /** The line of a file that the comment is about: `src/main.c, line 3`. */
  readonly place: string | null
  /** That line with the lines before it, as a diff shows them. Mails that an earlier version has queued have none. */
  readonly lines?: string | null
  /** In Markdown. */
  readonly text: string
}

/** A build has ended. */
interface BuildFacts extends ProjectFacts {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly ref: string
  readonly commit: string
  readonly title: string
}

/** A branch or a tag was pushed, created or deleted. */
export interface PushFacts extends ProjectFacts {
  /** `Ada Lovelace (@ada) pushed to the branch master`. */
  readonly happened: string
  readonly ref: string
  /** `1234abcd Fix it, by Ada Lovelace`: the newest commits, and the total. */
  readonly commits: readonly string[]
  readonly commits_total: number
  /** `added src/main.c`: the first files, and the total. */
  readonly paths: readonly string[]
  readonly paths_total: number
  /** The changes as git shows them; null when they are omitted. */
  readonly diff: string | null
  /** The sender in whose name the mail comes, if the service asks for it and the address is in a domain of the appliance. */
  readonly from?: Sender | null
}

/** The sender of a mail, or its apparent sender. */
export interface Sender {
  readonly name: string
  readonly address: string
}

/** A pipeline has ended. */
interface PipelineFacts extends ProjectFacts {
  readonly id: number
  readonly status: string
  readonly ref: string
  /** The start of the id of the commit, and the first line of its message. */
  readonly commit: string
  readonly title: string
  /** Why it has no builds; null or absent when it has. */
  readonly reason?: string | null
  /** The ends of the traces of the first builds that failed; absent for people who may not read builds. */
  readonly traces?: readonly { readonly name: string; readonly text: string }[]
  /** `STAGE: NAME (REASON)` of the first builds that failed, and the total. */
  readonly failed: readonly string[]
  readonly failed_total: number
}

export type MailKind = keyof MailFacts
