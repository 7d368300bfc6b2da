// The state of the dashboard, and how each key changes it. Pure functions: a change outside of the state is an effect,
// which the app carries out.
import { type Action, actionOf, changes, PANES, type Pane } from './keymap.js'
import type { Line } from './tables.js'

export interface Selection {
  /** The id of the chosen line. The line stays chosen when others appear or disappear. */
  readonly id: string | null
  readonly at: number
}

export type Change =
  | { readonly kind: 'retry' | 'discard'; readonly job: number }
  | { readonly kind: 'pause' | 'resume'; readonly queue: string }

export type Effect = Change | { readonly kind: 'redraw' | 'quit' }

export const isChange = (effect: Effect): effect is Change => 'job' in effect || 'queue' in effect

export interface State {
  readonly pane: Pane
  readonly mode: 'browse' | 'filter' | 'help'
  readonly filter: string
  readonly selections: { readonly [Name in Pane]: Selection }
  readonly sorts: { readonly [Name in Pane]: number }
  /** The pane of jobs shows only jobs of this queue. */
  readonly queue: string | null
  /** The job that is open, and how far it is scrolled. */
  readonly detail: { readonly job: number; readonly scroll: number } | null
  /** A change that waits for an answer in the status line; `y` makes it. */
  readonly confirm: Change | null
  readonly message: string
  /** Seconds between two updates. */
  readonly interval: number
}

export interface Context {
  readonly readOnly: boolean
  /** How many lines of the active pane fit on the screen. */
  readonly page: number
  /** How far the open job can be scrolled. */
  readonly lastScroll: number
  /** The lines of the active pane of a state. */
  linesOf(state: State): readonly Line[]
}

export interface Step {
  readonly state: State
  readonly effect?: Effect
}

const INTERVALS = [0.5, 1, 2, 5, 10, 30, 60]
const LONGEST_FILTER = 60

const forPanes = <T>(value: T) => Object.fromEntries(PANES.map(pane => [pane, value])) as { [Name in Pane]: T }

export const firstState = (interval: number): State => ({
  pane: 'queues',
  mode: 'browse',
  filter: '',
  selections: forPanes<Selection>({ id: null, at: 0 }),
  sorts: forPanes(0),
  queue: null,
  detail: null,
  confirm: null,
  message: '',
  interval
})

/** The index of the chosen line: the line of that id, or the line that took its place; -1 when there are no lines. */
export function chosen({ id, at }: Selection, lines: readonly Line[]): number {
  const found = lines.findIndex(line => line.id === id)
  return found === -1 ? Math.min(at, lines.length - 1) : found
}

/** The state after a key, and the effect that the key asks for. */
export function press(state: State, key: string, context: Context): Step {
  if (key === 'ctrl-c') return { state, effect: { kind: 'quit' } }
  if (state.confirm) return answer(state, state.confirm, key)
  if (state.mode === 'filter') return { state: typeFilter(state, key) }
  const action = actionOf(key)
  if (state.mode === 'help') {
    if (action === 'quit') return { state, effect: { kind: 'quit' } }
    return { state: { ...state, mode: 'browse' } }
  }
  if (action === undefined) return { state }
  const quiet = { ...state, message: '' }
  if (changes(action) && context.readOnly) {
    return { state: { ...state, message: 'nothing changed: the dashboard runs with --read-only' } }
  }
  return act(quiet, action, context)
}

function answer(state: State, confirm: Change, key: string): Step {
  const done = { ...state, confirm: null, message: '' }
  return key === 'y' || key === 'Y' ? { state: done, effect: confirm } : { state: { ...done, message: 'canceled' } }
}

function typeFilter(state: State, key: string): State {
  if (key === 'enter') return { ...state, mode: 'browse' }
  if (key === 'esc') return { ...state, mode: 'browse', filter: '' }
  if (key === 'backspace') return { ...state, filter: [...state.filter].slice(0, -1).join('') }
  const typed = [...key].length === 1 && state.filter.length < LONGEST_FILTER
  return typed ? { ...state, filter: state.filter + key } : state
}

function act(state: State, action: Action, context: Context): Step {
  switch (action) {
    case 'help':
      return { state: { ...state, mode: 'help' } }
    case 'filter':
      return { state: { ...state, mode: 'filter', detail: null } }
    case 'next_pane':
      return { state: toPane(state, neighbour(state.pane, 1)) }
    case 'previous_pane':
      return { state: toPane(state, neighbour(state.pane, -1)) }
    case 'sort':
      return { state: { ...state, sorts: { ...state.sorts, [state.pane]: state.sorts[state.pane] + 1 } } }
    case 'open':
      return { state: open(state, context) }
    case 'back':
      return { state: back(state) }
    case 'slower':
      return {
        state: pace(
          state,
          INTERVALS.find(each => each > state.interval)
        )
      }
    case 'faster':
      return {
        state: pace(
          state,
          INTERVALS.findLast(each => each < state.interval)
        )
      }
    case 'retry':
    case 'discard':
    case 'pause':
      return change(state, action, context)
    case 'redraw':
    case 'quit':
      return { state, effect: { kind: action } }
    case 'up':
    case 'down':
    case 'page_up':
    case 'page_down':
    case 'first':
    case 'last':
      return { state: move(state, action, context) }
    default:
      return { state: toPane(state, action) }
  }
}

/** Goes to a pane; this closes an open job or queue. */
const toPane = (state: State, pane: Pane): State => ({ ...state, pane, detail: null, queue: null })

function neighbour(pane: Pane, by: number): Pane {
  return PANES[(PANES.indexOf(pane) + by + PANES.length) % PANES.length] ?? pane
}

function pace(state: State, interval = state.interval): State {
  return { ...state, interval, message: `updates every ${interval} s` }
}

function back(state: State): State {
  if (state.detail) return { ...state, detail: null }
  if (state.filter !== '') return { ...state, filter: '' }
  return state.queue === null ? state : { ...state, queue: null, pane: 'queues' }
}

function open(state: State, context: Context): State {
  const line = current(state, context)
  if (state.detail || !line) return state
  if (line.job !== undefined) return { ...state, detail: { job: line.job, scroll: 0 } }
  if (line.queue === undefined) return state
  const selections = { ...state.selections, jobs: { id: null, at: 0 } }
  return { ...state, pane: 'jobs', queue: line.queue, filter: '', selections }
}

function current(state: State, context: Context): Line | undefined {
  const lines = context.linesOf(state)
  return lines[chosen(state.selections[state.pane], lines)]
}

function change(state: State, action: 'retry' | 'discard' | 'pause', context: Context): Step {
  const line = current(state, context)
  if (action === 'pause') {
    if (state.pane !== 'queues' || line?.queue === undefined)
      return told(state, 'to pause a queue, choose it first: key 1')
    return { state, effect: { kind: line.paused ? 'resume' : 'pause', queue: line.queue } }
  }
  const job = state.detail?.job ?? line?.job
  if (job === undefined) return told(state, `to ${action} a job, choose it first: key 3 or 5`)
  if (action === 'retry') return { state, effect: { kind: 'retry', job } }
  return { state: { ...state, confirm: { kind: 'discard', job } } }
}

const told = (state: State, message: string): Step => ({ state: { ...state, message } })

type Move = 'up' | 'down' | 'page_up' | 'page_down' | 'first' | 'last'

function move(state: State, action: Move, context: Context): State {
  const page = Math.max(1, context.page)
  const steps: { readonly [Name in Move]: number } = {
    up: -1,
    down: 1,
    page_up: -page,
    page_down: page,
    first: Number.NEGATIVE_INFINITY,
    last: Number.POSITIVE_INFINITY
  }
  const by = steps[action]
  if (state.detail) {
    const scroll = Math.min(context.lastScroll, Math.max(0, state.detail.scroll + by))
    return { ...state, detail: { ...state.detail, scroll } }
  }
  const lines = context.linesOf(state)
  const at = Math.min(lines.length - 1, Math.max(0, chosen(state.selections[state.pane], lines) + by))
  const selection = { id: lines[at]?.id ?? null, at: Math.max(0, at) }
  return { ...state, selections: { ...state.selections, [state.pane]: selection } }
}
