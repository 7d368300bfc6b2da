// Commands that an area above runs once the note is written: a note marks the to-dos of its author as done, but `/todo` adds one.
import { plug } from '../../../../lib/plug.js'

export type DeferredCommand = 'todo' | 'done'

/** The user, and what the note is about. */
export interface DeferredSubject {
  readonly type: 'Issue' | 'MergeRequest'
  readonly id: number
  readonly userId: number
}

export interface DeferredCommands {
  /** Whether the command changes anything. Decided: those that do not apply stay in the text. */
  readonly applies: (name: DeferredCommand, subject: DeferredSubject) => Promise<boolean>
  readonly run: (name: DeferredCommand, subject: DeferredSubject & { readonly projectId: number }) => Promise<void>
}

export const deferredCommands = plug<DeferredCommands>('deferredCommands')
