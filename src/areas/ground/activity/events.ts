// A rule publishes each event once, in the transaction of the change. The rule does not know the listeners: one job passes
// each event to all of them (src/listeners.ts). A few listeners run in that transaction instead: the client sees their
// effects with its response, and the order of jobs does not matter.
import { randomUUID } from 'node:crypto'
import { plug } from '../../../lib/plug.js'
import { enqueueAll } from '../../../queue/enqueue.js'
import type { RecordTexts } from '../../../text/mentions.js'
import type { AccountEvent } from './account-events.js'
import type { Doer } from './authors.js'
import type { BuildSnapshot, PipelineSnapshot } from './ci-snapshots.js'
import type { MergeRequestChanges, MergeRequestSnapshot } from './merge-request-snapshots.js'
import type { IssueChanges, IssueSnapshot, MilestoneSnapshot } from './plan-snapshots.js'
import type { ProjectSnapshot } from './project-snapshots.js'
import type { DeployKeySnapshot, GroupSnapshot, KeySnapshot, MemberSnapshot, UserSnapshot } from './snapshots.js'

/**
 * An event contains a copy of a small record, because the row may have changed or been removed when a listener runs.
 * It contains only the id of a large record.
 */
export type DomainEvent =
  /** `mail`: the mail that the user receives; absent after a sign-up and for imported users. */
  | {
      readonly kind: 'user.created'
      readonly user: UserSnapshot
      readonly mail?: 'welcome' | 'confirmation'
    }
  | { readonly kind: 'user.deleted'; readonly user: UserSnapshot }
  /** `owner` is absent in events that an older version published; so is `by` below. */
  | {
      readonly kind: 'key.added'
      readonly key: KeySnapshot
      readonly owner?: { readonly id: number; readonly title: string; readonly fingerprint: string; readonly by: Doer }
    }
  | { readonly kind: 'key.removed'; readonly key: KeySnapshot }
  | { readonly kind: 'deploy_key.created'; readonly key: DeployKeySnapshot }
  | { readonly kind: 'deploy_key.deleted'; readonly key: DeployKeySnapshot }
  | { readonly kind: 'group.created'; readonly group: GroupSnapshot }
  | { readonly kind: 'group.deleted'; readonly group: GroupSnapshot }
  /** A user became a member, also by a request for access that was approved. */
  | { readonly kind: 'member.added'; readonly member: MemberSnapshot; readonly by?: Doer }
  /** `expired`: the membership reached its expiry date. A membership that is deleted with its user, project or group publishes no event. */
  | { readonly kind: 'member.removed'; readonly member: MemberSnapshot; readonly expired: boolean }
  | AccountEvent
  | { readonly kind: 'project.created'; readonly project: ProjectSnapshot; readonly by: number }
  /** The project was restored from a backup. */
  | { readonly kind: 'project.restored'; readonly project: ProjectSnapshot }
  | {
      readonly kind: 'project.renamed'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
      readonly by?: Doer
      /** The new path of a group or a user that moved all its projects. `id` is the same in the events of all of them. */
      readonly moved?: { readonly id: string; readonly before: string; readonly path: string }
    }
  | {
      readonly kind: 'project.transferred'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
      readonly by?: Doer
    }
  | { readonly kind: 'project.deleted'; readonly project: ProjectSnapshot }
  /** A branch, a tag or another ref was moved, created or deleted. `quiet`: no open merge request belongs to the branch. */
  | { readonly kind: 'ref.changed'; readonly refChangeId: number; readonly quiet?: boolean }
  | { readonly kind: 'commit.commented'; readonly commentId: number }
  /** A build was created, started or ended. Published only when a hook or a service subscribes to it. */
  | { readonly kind: 'build.changed'; readonly build: BuildSnapshot }
  /** A pipeline changed its status. Success and failure are always published, other statuses only when a hook subscribes. */
  | { readonly kind: 'pipeline.changed'; readonly pipeline: PipelineSnapshot }
  /** A user wrote about an issue, a merge request or a snippet. `plain`: as for an issue, below. */
  | { readonly kind: 'note.created'; readonly noteId: number; readonly confidential: boolean; readonly plain?: boolean }
  /** `named`: the names that the new text mentions and the old one did not. */
  | { readonly kind: 'note.edited'; readonly noteId: number; readonly by?: number; readonly named?: readonly string[] }
  /** A merge request was created, changed, closed, reopened or merged. */
  | {
      readonly kind: 'merge_request.changed'
      readonly action: 'open' | 'update' | 'close' | 'reopen' | 'merge'
      /** As it was after the change. */
      readonly mergeRequest: MergeRequestSnapshot
      /** Null when the user who pushed is unknown. */
      readonly by: number | null
      /** What an update has changed. */
      readonly changes?: MergeRequestChanges
      /** The merge request was merged automatically when its pipeline succeeded. */
      readonly byItself?: boolean
      /** The newest commit before a push to the source branch. */
      readonly oldrev?: string
    }
  | {
      readonly kind: 'milestone.changed'
      readonly action: 'opened' | 'closed' | 'destroyed'
      readonly milestone: MilestoneSnapshot
      /** Null when a command did it. */
      readonly by: number | null
    }
  /** An issue was created, changed, closed or reopened. */
  | {
      readonly kind: 'issue.changed'
      readonly action: 'open' | 'update' | 'close' | 'reopen'
      /** As it was after the change. */
      readonly issue: IssueSnapshot
      /** Null when a command did it. */
      readonly by: number | null
      /** What an update has changed. */
      readonly changes?: IssueChanges
      /** Its texts contain no mentions and no references (isPlain), so listeners that look for them need not read the texts. */
      readonly plain?: boolean
      /** The ids of both issues, when the issue was opened or closed by a move. */
      readonly moved?: { readonly from: number; readonly to: number }
    }

export type EventKind = DomainEvent['kind']

/** The type of a value after JSON: a Date becomes its ISO 8601 text. */
export type Stored<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Stored<T[Key]> } : T

/** An event as listeners receive it. */
export interface PublishedEvent {
  /** Unique to the event, and the same when a listener runs again. */
  readonly id: string
  /** When it happened, in ISO 8601. */
  readonly at: string
  readonly event: Stored<DomainEvent>
}

export interface Published<Kind extends EventKind> extends PublishedEvent {
  readonly event: Extract<Stored<DomainEvent>, { readonly kind: Kind }>
}

/** Events that transaction listeners receive with their text: the rule has it, so they need not read it again. */
type TextKind = 'note.created' | 'note.edited' | 'commit.commented'

/** A text as it was written. */
export interface WrittenText {
  readonly projectId: number
  readonly authorId: number
  readonly target: { readonly type: string; readonly id: number | null; readonly commitId?: string }
  readonly noteId: number
  readonly text: string
}

/** The branch and the newest commit of builds. */
export interface BuiltCommit {
  readonly projectId: number
  readonly branch: string
  readonly sha: string
}

/** Events that only transaction listeners receive. They are not stored. */
export type Instant =
  /** A build failed that was not allowed to fail. */
  | ({ readonly kind: 'build.failed' } & BuiltCommit)
  | ({ readonly kind: 'build.retried' } & BuiltCommit)
  /** A user wrote a note that consists of one emoji. */
  | {
      readonly kind: 'emoji.noted'
      readonly target: { readonly type: string; readonly id: number }
      readonly by: number
    }
  | { readonly kind: 'merge_request.deleted'; readonly id: number }

/** An event as transaction listeners receive it. */
export interface Heard<Kind extends EventKind | Instant['kind']> {
  /** The same as in PublishedEvent. */
  readonly id: string
  readonly at: Date
  readonly event: Extract<DomainEvent | Instant, { readonly kind: Kind }>
  readonly text: Kind extends TextKind ? WrittenText : undefined
  /** The texts of a new issue, when the rule has them: listeners need not read them again. */
  readonly texts?: RecordTexts
}

/**
 * Functions that run in the transaction of the change. Each receives all events of its kind that are published
 * together. A transaction runs again after a deadlock, so they must only write to the database.
 */
export type TransactionListener = {
  readonly [Kind in EventKind | Instant['kind']]?: (heard: readonly Heard<Kind>[]) => Promise<unknown>
}

export const transactionListeners = plug<readonly TransactionListener[]>('transactionListeners')

type HandleAtOnce = (published: readonly UnstoredEvent[]) => Promise<ReadonlySet<string>>

/**
 * Handles events in the transaction of their change where this costs less than a job: their effects are a few rows, or nobody
 * receives them. Returns the ids of the events that are handled; jobs handle the others. A transaction runs again after a
 * deadlock, so it must only use the database.
 */
export const handledAtOnce = plug<HandleAtOnce>('handledAtOnce')

/** Like PublishedEvent, before it is stored as JSON. */
export interface UnstoredEvent {
  readonly id: string
  readonly at: string
  readonly event: DomainEvent
}

/** More events than this, such as those of an import, always have jobs. */
const MOST_AT_ONCE = 32

/** People wait for the effects of a push, while an import of users publishes 100,000 events at once. */
const URGENT = { kinds: new Set<EventKind>(['ref.changed']), priority: 50 }

type PlainEvent = Exclude<DomainEvent, { readonly kind: TextKind }>

/** A text that was written. */
export interface PublishedText {
  readonly event: Extract<DomainEvent, { readonly kind: TextKind }>
  readonly text: WrittenText
}

/** A record that was created, with its texts. */
export interface PublishedRecord {
  readonly event: PlainEvent
  readonly texts: RecordTexts
}

/** Publishes an event. Call it in the transaction of the change. */
export const publish = (event: PlainEvent): Promise<void> => pass([{ event }])

/** Publishes that texts or records were written. Call it in the transaction of the change. */
export const publishWritten = (written: readonly PublishedText[] | readonly PublishedRecord[]): Promise<void> =>
  pass(written)

/** Publishes many events, with one statement for every 500. Call it in the transaction of the change. */
export const publishAll = (events: readonly PlainEvent[]): Promise<void> => pass(events.map(event => ({ event })))

/** Publishes an event to transaction listeners only. Call it in the transaction of the change. */
export const publishInTransaction = (instant: Instant): Promise<void> =>
  notify([{ id: randomUUID(), at: new Date(), event: instant, text: undefined }])

interface Passed {
  readonly event: DomainEvent
  readonly text?: WrittenText
  readonly texts?: RecordTexts
}

async function pass(all: readonly Passed[]): Promise<void> {
  const at = new Date()
  const published = all.map(({ event }) => ({ id: randomUUID(), at: at.toISOString(), event }))
  const handled = published.length > MOST_AT_ONCE ? new Set() : await (await handledAtOnce())(published)
  const left = published.filter(({ id }) => !handled.has(id))
  const isUrgent = ({ event: { kind } }: { event: DomainEvent }) => URGENT.kinds.has(kind)
  await enqueueAll('event.published', left.filter(isUrgent), { priority: URGENT.priority })
  await enqueueAll(
    'event.published',
    left.filter(each => !isUrgent(each))
  )
  await notify(
    published.map(({ id, event }, index) => {
      const { text, texts } = all[index] ?? {}
      return { id, at, event, text, ...(texts && { texts }) }
    })
  )
}

interface HeardOfAny extends Omit<Heard<EventKind>, 'event' | 'text'> {
  readonly event: DomainEvent | Instant
  readonly text: WrittenText | undefined
}

async function notify(all: readonly HeardOfAny[]): Promise<void> {
  const listeners = await transactionListeners()
  for (const kind of new Set(all.map(({ event }) => event.kind))) {
    for (const listener of listeners) {
      const on = listener[kind] as ((heard: readonly HeardOfAny[]) => Promise<unknown>) | undefined
      await on?.(all.filter(({ event }) => event.kind === kind))
    }
  }
}
