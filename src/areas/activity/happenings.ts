// A rule tells each happening once, in the transaction of the change. The rule does not know the listeners: one job
// passes each happening to all of them (worker/listeners.ts). A few listeners hear it at once, in that transaction: what they
// write is there when the client has its answer, and no order of jobs changes it.
import { randomUUID } from 'node:crypto'
import { enqueueAll } from '../../queue/enqueue.js'
import type { RecordTexts } from '../../text/mentions.js'
import type { AccountHappening } from './account-happenings.js'
import type { BuildSnapshot, PipelineSnapshot } from './ci-snapshots.js'
import type { Doer } from './doers.js'
import type { MergeRequestChanges, MergeRequestSnapshot } from './merge-request-snapshots.js'
import type { IssueChanges, IssueSnapshot, MilestoneSnapshot } from './plan-snapshots.js'
import type { ProjectSnapshot } from './project-snapshots.js'
import type { DeployKeySnapshot, GroupSnapshot, KeySnapshot, MemberSnapshot, UserSnapshot } from './snapshots.js'

/**
 * A happening contains a copy of a small record, because the row may have changed or been removed when a listener runs.
 * It contains only the id of a large record.
 */
export type Happening =
  /** `mail`: what the user gets to read; absent when the user has signed up, and for imported users. */
  | {
      readonly kind: 'user.created'
      readonly user: UserSnapshot
      readonly mail?: 'welcome' | 'confirmation'
    }
  | { readonly kind: 'user.deleted'; readonly user: UserSnapshot }
  /** `owner` is absent in happenings that an older version told; so is `by` below. */
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
  /** `expired`: the day of its end has come. A membership that goes with its user, project or group is not told. */
  | { readonly kind: 'member.removed'; readonly member: MemberSnapshot; readonly expired: boolean }
  | AccountHappening
  | { readonly kind: 'project.created'; readonly project: ProjectSnapshot; readonly by: number }
  /** The project was restored from a backup. */
  | { readonly kind: 'project.restored'; readonly project: ProjectSnapshot }
  | {
      readonly kind: 'project.renamed'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
      readonly by?: Doer
    }
  | {
      readonly kind: 'project.transferred'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
      readonly by?: Doer
    }
  | { readonly kind: 'project.deleted'; readonly project: ProjectSnapshot }
  /** A branch, a tag or another ref was moved, created or deleted. */
  | { readonly kind: 'ref.changed'; readonly refChangeId: number }
  | { readonly kind: 'commit.commented'; readonly commentId: number }
  /** A build was created, has begun, or has ended. Told only when a hook or a service wants it. */
  | { readonly kind: 'build.changed'; readonly build: BuildSnapshot }
  /** A pipeline has another status. Its success and its failure are always told, others only when a hook wants it. */
  | { readonly kind: 'pipeline.changed'; readonly pipeline: PipelineSnapshot }
  /** Somebody wrote about an issue, a merge request or a snippet. `plain`: as of an issue, below. */
  | { readonly kind: 'note.created'; readonly noteId: number; readonly confidential: boolean; readonly plain?: boolean }
  /** `named`: the names that the new text mentions and the old one did not. */
  | { readonly kind: 'note.edited'; readonly noteId: number; readonly by?: number; readonly named?: readonly string[] }
  /** A merge request was created, changed, closed, reopened or merged. */
  | {
      readonly kind: 'merge_request.changed'
      readonly action: 'open' | 'update' | 'close' | 'reopen' | 'merge'
      /** As it was after the change. */
      readonly mergeRequest: MergeRequestSnapshot
      /** Null when nobody knows who pushed. */
      readonly by: number | null
      /** What an update has changed. */
      readonly changes?: MergeRequestChanges
      /** It waited for its pipeline, and was merged when that succeeded. */
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
      /** Its texts name nobody and refer to nothing (isPlain): whoever looks for that need not read them. */
      readonly plain?: boolean
      /** The ids of both issues, when the issue was opened or closed by a move. */
      readonly moved?: { readonly from: number; readonly to: number }
    }

export type HappeningKind = Happening['kind']

/** The type of a value after JSON: a Date becomes its ISO 8601 text. */
export type Stored<T> = T extends Date ? string : T extends object ? { [Key in keyof T]: Stored<T[Key]> } : T

/** A happening as listeners receive it. */
export interface Told {
  /** Unique to the happening, and the same when a listener runs again. */
  readonly id: string
  /** When it happened, in ISO 8601. */
  readonly at: string
  readonly happening: Stored<Happening>
}

export interface ToldOf<Kind extends HappeningKind> extends Told {
  readonly happening: Extract<Stored<Happening>, { readonly kind: Kind }>
}

/** The happenings whose listeners at once get the text: the rule has it, and they need not read it again. */
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

/** What only listeners at once hear: it is kept nowhere. */
export type Instant =
  /** A build failed whose failure is not allowed. */
  | ({ readonly kind: 'build.failed' } & BuiltCommit)
  | ({ readonly kind: 'build.retried' } & BuiltCommit)
  /** Somebody wrote a note that is an emoji alone. */
  | {
      readonly kind: 'emoji.noted'
      readonly target: { readonly type: string; readonly id: number }
      readonly by: number
    }
  | { readonly kind: 'merge_request.deleted'; readonly id: number }

/** A happening as listeners at once receive it. */
export interface Heard<Kind extends HappeningKind | Instant['kind']> {
  /** The same as in Told. */
  readonly id: string
  readonly at: Date
  readonly happening: Extract<Happening | Instant, { readonly kind: Kind }>
  readonly text: Kind extends TextKind ? WrittenText : undefined
  /** The texts of a new issue, when the rule has them: listeners need not read them again. */
  readonly texts?: RecordTexts
}

/**
 * Functions that run in the transaction of the change, when it is told. Each gets all happenings of its kind that are told
 * together. A transaction runs again after a deadlock, so they must write to the database alone.
 */
export type ListenerAtOnce = {
  readonly [Kind in HappeningKind | Instant['kind']]?: (heard: readonly Heard<Kind>[]) => Promise<unknown>
}

const atOnce: ListenerAtOnce[] = []

/** Adds a listener. Areas above fill this when they are loaded: the server and the worker import them. */
export const addListenerAtOnce = (listener: ListenerAtOnce): void => void atOnce.push(listener)

/** People wait for the effects of a push, while an import of users tells 100,000 happenings at once. */
const URGENT = { kinds: new Set<HappeningKind>(['ref.changed']), priority: 50 }

type ToldAlone = Exclude<Happening, { readonly kind: TextKind }>

/** That a text was written. */
export interface TextTold {
  readonly happening: Extract<Happening, { readonly kind: TextKind }>
  readonly text: WrittenText
}

/** That something was made, with its texts. */
export interface RecordTold {
  readonly happening: ToldAlone
  readonly texts: RecordTexts
}

/** Tells a happening. Call it in the transaction of the change. */
export const tell = (happening: ToldAlone): Promise<void> => pass([{ happening }])

/** Tells that texts or records were written. Call it in the transaction of the change. */
export const tellWritten = (told: readonly TextTold[] | readonly RecordTold[]): Promise<void> => pass(told)

/** Tells many happenings, with one statement for every 500. Call it in the transaction of the change. */
export const tellAll = (happenings: readonly ToldAlone[]): Promise<void> =>
  pass(happenings.map(happening => ({ happening })))

/** Tells listeners at once of what no job passes on. Call it in the transaction of the change. */
export const tellAtOnce = (instant: Instant): Promise<void> =>
  hear([{ id: randomUUID(), at: new Date(), happening: instant, text: undefined }])

interface Passed {
  readonly happening: Happening
  readonly text?: WrittenText
  readonly texts?: RecordTexts
}

async function pass(all: readonly Passed[]): Promise<void> {
  const at = new Date()
  const told = all.map(({ happening }) => ({ id: randomUUID(), at: at.toISOString(), happening }))
  const isUrgent = ({ happening: { kind } }: { happening: Happening }) => URGENT.kinds.has(kind)
  await enqueueAll('happening.told', told.filter(isUrgent), { priority: URGENT.priority })
  await enqueueAll(
    'happening.told',
    told.filter(each => !isUrgent(each))
  )
  await hear(
    told.map(({ id, happening }, index) => {
      const { text, texts } = all[index] ?? {}
      return { id, at, happening, text, ...(texts && { texts }) }
    })
  )
}

interface HeardOfAny extends Omit<Heard<HappeningKind>, 'happening' | 'text'> {
  readonly happening: Happening | Instant
  readonly text: WrittenText | undefined
}

async function hear(all: readonly HeardOfAny[]): Promise<void> {
  if (atOnce.length === 0) return
  for (const kind of new Set(all.map(({ happening }) => happening.kind))) {
    for (const listener of atOnce) {
      const on = listener[kind] as ((heard: readonly HeardOfAny[]) => Promise<unknown>) | undefined
      await on?.(all.filter(({ happening }) => happening.kind === kind))
    }
  }
}
