// What a migration reads from a forge. Each forge has a reader, which turns pages of its API into drafts of the records of an archive
// (upkeep/project-archives/records.ts). Readers keep no state, files or rows: after a kill they start again, and the client answers the
// pages that it already has from the disk.
import type { Draft } from '../../upkeep/project-archives/export-records.js'
import type { Client, FilePlace } from './client.js'

/**
 * `fork` of a merge request is the id at the source of the project that it comes from; null: it comes from the project itself. An archive
 * has a number instead.
 * @public
 */
export type { Draft }

/**
 * A username at the source, with any characters, such as `dependabot[bot]`. Null: the source does not say who it was, usually because
 * the account was deleted. Drafts have a Person wherever a record has a username; the migration replaces it.
 * @public
 */
export type Person = string | null

/** @public */
export interface SourceUser {
  readonly username: string
  readonly name: string
  /** Only an address that the source has verified, unless `isVerified` is false. */
  readonly email: string | null
  /** False: the source does not say whether its people have proved their addresses. Then an address matches nobody, unless the sysadmin trusts it, and brings no SSH keys. Default: true. */
  readonly isVerified?: boolean
  readonly isAdmin?: boolean
  readonly state?: 'active' | 'blocked'
  readonly createdAt?: string
  readonly keys?: readonly { readonly title: string; readonly key: string }[]
}

/** @public */
export interface SourceMember {
  readonly username: string
  readonly level: 10 | 20 | 30 | 40 | 50
  /** YYYY-MM-DD */
  readonly expiresAt?: string | null
}

/** @public */
export interface SourceGroup {
  /** The whole path. That of a subgroup has slashes; the migration joins its parts with dashes. */
  readonly path: string
  readonly name: string
  readonly description: string | null
  readonly visibility: 'private' | 'internal' | 'public'
  readonly members: readonly SourceMember[]
}

/** @public */
export interface SourceProject {
  readonly id: string
  /** The whole path at the source: NAMESPACE/PROJECT, or with subgroups in between. */
  readonly path: string
  readonly cloneUrl: string
  /** Where the repository of the wiki would be; null when the project has no wiki. The migration finds out whether it exists. */
  readonly wikiUrl: string | null
  readonly avatarUrl: string | null
  /** Bytes of the repository. */
  readonly size: number | null
  /** The id of the project of which this one is a fork. Default: null. */
  readonly forkOf?: string | null
  /** What the reader keeps for itself. */
  readonly raw: unknown
}

/** A file that a text names. The migration downloads it, stores it as an upload and changes the link. @public */
export interface SourceFile extends FilePlace {
  /** Any text: the migration makes a safe name from it. */
  readonly name: string
}

/**
 * Reports what cannot be migrated, such as `skipped('award emoji', 'the source does not show who gave them')`. It counts equal calls.
 * `item` is what the source has sent in another form than its API describes.
 * @public
 */
export type Skipped = (what: string, why: string, item?: unknown) => void

/** How a text refers to things here. Each function returns what stands in the text instead. @public */
export interface Rewriting {
  /** Returns the username here. */
  mention(username: string): string
  /** Returns the link to the upload. */
  file(file: SourceFile): string
  /** Returns the path here of a project of the source that is migrated, too; null for others. */
  project(path: string): string | null
}

/** One forge. Everything that it returns was checked by schemas with limits. @public */
export interface Source {
  /** Additional refs to fetch, such as `+refs/merge-requests/*:refs/merge-requests/*`. The migration keeps their commits, not their names. */
  readonly refspecs: readonly string[]
  /** Checks the token. */
  about(): Promise<{ readonly version: string; readonly username: string; readonly isAdmin: boolean }>
  /** These three report what is in another form than the API describes, with the item: a user, a key, a group, a member or a project. */
  user(username: string, skipped: Skipped): Promise<SourceUser | null>
  groups(skipped: Skipped): AsyncIterable<SourceGroup>
  projects(skipped: Skipped): AsyncIterable<SourceProject>
  /** Throws SourceFailure when there is no such project. */
  project(path: string): Promise<SourceProject>
  /** Counts for `migrate plan`, with as few requests as possible. Null: unknown. */
  counts(project: SourceProject): Promise<{ readonly [what: string]: number | null }>
  /**
   * All records of a project, `project` among them. The order of kinds does not matter; records of one kind come in the order in which
   * they were made, and builds and statuses after their pipeline. Dates are ISO texts with milliseconds, in UTC. Texts are as they are
   * at the source: the migration calls `text`, and cuts what is longer than a record may have.
   */
  records(project: SourceProject, skipped: Skipped): AsyncIterable<Draft>
  /**
   * Turns a text of the source into one for this appliance: the numbers of pull requests (`#5` becomes `!5`), absolute URLs of the
   * source, mentions and files. It runs twice over the same text, and must be a pure function.
   */
  text(project: SourceProject, text: string, into: Rewriting): string
}

/** What to read in addition. @public */
export interface ReadOptions {
  /** Comments on commits also where each commit needs a request. */
  readonly commitComments: boolean
}

/** A kind of forge, as an entry of `runs/readers.ts`. */
export interface Reader {
  /** For the help of `migrate add`, such as `GitHub, or GitHub Enterprise`. */
  readonly title: string
  /** Fields that change although no record does, such as counts of downloads. The reader must not use them. */
  readonly ignored?: readonly string[]
  /** Returns the address of the API for the URL that a person enters, such as https://git.example.com. It ends with a slash. */
  base(url: URL): URL
  /** The headers of a request with this token. */
  headers(token: string): { readonly [name: string]: string }
  /** What git sends as user and password to clone. */
  credentials(token: string, username: string): { readonly username: string; readonly password: string }
  open(client: Client, url: URL, options?: ReadOptions): Source
}
