// What the dashboard remembers between two keys, and what a key may ask for.

import type { Line } from './drawing/tables.js'
import type { Pane } from './keymap.js'

export type Kind = 'retry_jobs' | 'discard_jobs' | 'retry_builds' | 'cancel_builds'

/** A change of jobs or builds, by their ids. */
export interface RecordChange {
  readonly kind: Kind
  readonly ids: readonly number[]
}

export type Change = RecordChange | { readonly kind: 'pause' | 'resume'; readonly queue: string }
export type Effect = Change | { readonly kind: 'redraw' | 'quit' }

export interface Selection {
  /** The id of the chosen line. The line stays chosen when others appear or disappear. */
  readonly id: string | null
  readonly at: number
}

/** What is open instead of the panes, and how far it is scrolled. */
export interface Opened {
  readonly kind: 'job' | 'build' | 'hook'
  readonly id: number
  /** Infinity stays at the end, however much comes. */
  readonly scroll: number
}

/** A note in the status line. It goes when a key is pressed, or when its time is over. */
export interface Message {
  readonly text: string
  /** Milliseconds. */
  readonly at: number
  /** The source did not answer. The message goes when it answers. */
  readonly away: boolean
}

type OfPanes<T> = { readonly [Name in Pane]: T }

export interface State {
  readonly pane: Pane
  readonly mode: 'browse' | 'filter' | 'help'
  /** Filters the lines of the active pane. */
  readonly filter: string
  /** The filter of the pane of jobs that was kept: it searches all jobs. */
  readonly search: string
  readonly selections: OfPanes<Selection>
  readonly sorts: OfPanes<number>
  readonly reversed: OfPanes<boolean>
  /** The ids of the marked lines. */
  readonly marks: OfPanes<readonly string[]>
  /** The pane of jobs shows only jobs of this queue. */
  readonly queue: string | null
  /** Where each page of jobs begins, up to the one that is shown: after the job with this id. */
  readonly pages: readonly (number | null)[]
  readonly detail: Opened | null
  /** A change that waits for an answer in the status line; `y` makes it. */
  readonly confirm: RecordChange | null
  readonly message: Message | null
  /** Seconds between two updates. */
  readonly interval: number
}

export interface Context {
  readonly readOnly: boolean
  /** How many lines of the active pane fit on the screen. */
  readonly page: number
  /** How far the open record can be scrolled. */
  readonly lastScroll: number
  /** Where the next page of jobs begins; null when there is none. */
  readonly next: number | null
  /** Whether the open record does not exist any more. */
  readonly openedIsGone: boolean
  /** The time in milliseconds. */
  readonly now: number
  /** The lines of the active pane of a state. */
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
