// Commands that an area above runs after the note is written: a note marks the to-dos of its author as done, but
// `/todo` adds one.
import { plug } from '../../../../lib/plug.js'

export type DeferredCommand = 'todo' | 'done'

/** The user, and the target of the note. */
interface DeferredSubject {
  readonly type: 'Issue' | 'MergeRequest'
  readonly id: number
  readonly userId: number
}

export interface DeferredCommands {
  /** Whether the command changes anything. Decided: commands that do not apply stay in the text. */
  readonly applies: (name: DeferredCommand, subject: DeferredSubject) => Promise<boolean>
  readonly run: (name: DeferredCommand, subject: DeferredSubject & { readonly projectId: number }) => Promise<void>
}

export const deferredCommands = plug<DeferredCommands>('deferredCommands')
