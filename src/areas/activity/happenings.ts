// A rule tells each happening once, in the transaction of the change. The rule does not know the listeners: one job
// passes each happening to all of them (worker/listeners.ts).
import { randomUUID } from 'node:crypto'
import { enqueueAll } from '../../queue/enqueue.js'
import type { BuildSnapshot, PipelineSnapshot } from './ci-snapshots.js'
import type { MergeRequestChanges, MergeRequestSnapshot } from './merge-request-snapshots.js'
import type { IssueChanges, IssueSnapshot, MilestoneSnapshot } from './plan-snapshots.js'
import type { ProjectSnapshot } from './project-snapshots.js'
import type { DeployKeySnapshot, GroupSnapshot, KeySnapshot, MemberSnapshot, UserSnapshot } from './snapshots.js'

/**
 * A happening contains a copy of a small record, because the row may have changed or been removed when a listener runs.
 * It contains only the id of a large record.
 */
export type Happening =
  | { readonly kind: 'user.created'; readonly user: UserSnapshot }
  | { readonly kind: 'user.deleted'; readonly user: UserSnapshot }
  | { readonly kind: 'key.added'; readonly key: KeySnapshot }
  | { readonly kind: 'key.removed'; readonly key: KeySnapshot }
  | { readonly kind: 'deploy_key.created'; readonly key: DeployKeySnapshot }
  | { readonly kind: 'deploy_key.deleted'; readonly key: DeployKeySnapshot }
  | { readonly kind: 'group.created'; readonly group: GroupSnapshot }
  | { readonly kind: 'group.deleted'; readonly group: GroupSnapshot }
  /** A user became a member, also by a request for access that was approved. */
  | { readonly kind: 'member.added'; readonly member: MemberSnapshot }
  /** `expired`: the day of its end has come. A membership that goes with its user, project or group is not told. */
  | { readonly kind: 'member.removed'; readonly member: MemberSnapshot; readonly expired: boolean }
  | { readonly kind: 'project.created'; readonly project: ProjectSnapshot; readonly by: number }
  /** The project was restored from a backup. */
  | { readonly kind: 'project.restored'; readonly project: ProjectSnapshot }
  | {
      readonly kind: 'project.renamed'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
    }
  | {
      readonly kind: 'project.transferred'
      readonly project: ProjectSnapshot
      readonly old_path_with_namespace: string
    }
  | { readonly kind: 'project.deleted'; readonly project: ProjectSnapshot }
  /** A branch, a tag or another ref was moved, created or deleted. */
  | { readonly kind: 'ref.changed'; readonly refChangeId: number }
  | { readonly kind: 'commit.commented'; readonly commentId: number }
  /** A build was created, has begun, or has ended. Told only when a hook or a service wants it. */
  | { readonly kind: 'build.changed'; readonly build: BuildSnapshot }
  /** A pipeline has another status. Its success and its failure are always told, others only when a hook wants it. */
  | { readonly kind: 'pipeline.changed'; readonly pipeline: PipelineSnapshot }
  /** Somebody wrote about an issue, a merge request or a snippet. */
  | { readonly kind: 'note.created'; readonly noteId: number; readonly confidential: boolean }
  | { readonly kind: 'note.edited'; readonly noteId: number }
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

/** People wait for the effects of a push, while an import of users tells 100,000 happenings at once. */
const URGENT = { kinds: new Set<HappeningKind>(['ref.changed']), priority: 50 }

/** Tells a happening. Call it in the transaction of the change. */
export const tell = (happening: Happening): Promise<void> => tellAll([happening])

/** Tells many happenings, with one statement for every 500. Call it in the transaction of the change. */
export async function tellAll(happenings: readonly Happening[]): Promise<void> {
  const at = new Date().toISOString()
  const isUrgent = ({ kind }: Happening) => URGENT.kinds.has(kind)
  const jobOf = (happening: Happening) => ({ id: randomUUID(), at, happening })
  await enqueueAll('happening.told', happenings.filter(isUrgent).map(jobOf), { priority: URGENT.priority })
  await enqueueAll('happening.told', happenings.filter(happening => !isUrgent(happening)).map(jobOf))
}
