// The state of the dashboard between two keys, and the changes that a key may request.

import type { Line } from './drawing/tables.js'
import type { Pane } from './keymap.js'

export type Kind = 'retry_jobs' | 'discard_jobs' | 'retry_builds' | 'cancel_builds'

/** A change of jobs or builds, by their ids. */
export interface RecordChange {
  readonly kind: Kind
  readonly ids: readonly number[]
}

export type Change = RecordChange | { readonly kind: 'pause' | 'resume'; readonly queue: string }
export type Effect = Change | { readonly kind: 'redraw' | 'suspend' | 'quit' }

export interface Selection {
  /** The id of the selected line. The line stays selected when other lines appear or disappear. */
  readonly id: string | null
  readonly at: number
}

/** The record that is open instead of the panes, and how far it is scrolled. */
export interface Opened {
  readonly kind: 'job' | 'build' | 'hook'
  readonly id: number
  /** Infinity stays at the end while more lines arrive. */
  readonly scroll: number
}

/** A note in the status line. It disappears when a key is pressed, or after some time. */
interface Message {
  readonly text: string
  /** Milliseconds. */
  readonly at: number
  /** The source did not answer. The message disappears when it answers. */
  readonly away: boolean
}

type OfPanes<T> = { readonly [Name in Pane]: T }

export interface State {
  readonly pane: Pane
  readonly mode: 'browse' | 'filter' | 'help'
  /** Filters the lines of the active pane. */
  readonly filter: string
  /** The filter that was confirmed in the job pane: it searches all jobs. */
  readonly search: string
  readonly selections: OfPanes<Selection>
  readonly sorts: OfPanes<number>
  readonly reversed: OfPanes<boolean>
  /** The ids of the marked lines. */
  readonly marks: OfPanes<readonly string[]>
  /** The job pane shows only jobs of this queue. */
  readonly queue: string | null
  /** The pages of jobs up to the current one: each begins after the job with this id. */
  readonly pages: readonly (number | null)[]
  readonly detail: Opened | null
  /** A change that must be confirmed in the status line; `y` makes it. */
  readonly confirm: RecordChange | null
  readonly message: Message | null
  /** Seconds between two updates. */
  readonly interval: number
}

export interface Context {
  readonly readOnly: boolean
  /** How many lines of the active pane are visible. */
  readonly page: number
  /** How far the open record can be scrolled. */
  readonly lastScroll: number
  /** The next page of jobs begins after this id; null when there is no next page. */
  readonly next: number | null
  /** Whether the open record no longer exists. */
  readonly openedIsGone: boolean
  /** The time in milliseconds. */
  readonly now: number
  /** Returns the lines of the active pane in a state. */
  linesOf(state: State): readonly Line[]
}

export interface Step {
  readonly state: State
  readonly effect?: Effect
}

export const say = (state: State, text: string, now: number, away = false): State => ({
  ...state,
  message: { text, at: now, away }
})
