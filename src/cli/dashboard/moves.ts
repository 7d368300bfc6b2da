// Pure functions that move between the lines of a pane, between pages of jobs, and inside an open record, and mark lines.

import type { Line } from './drawing/tables.js'
import { type Context, type Selection, type State, say } from './model.js'

/** The maximum number of records in one change. */
const MOST_MARKS = 1000

export type Move = 'up' | 'down' | 'page_up' | 'page_down' | 'first' | 'last'

/** Returns the index of the selected line: the line with that id, or the line in its place; -1 when there are no lines. */
export function chosen({ id, at }: Selection, lines: readonly Line[]): number {
  const found = lines.findIndex(line => line.id === id)
  return found === -1 ? Math.min(at, lines.length - 1) : found
}

/** Returns the selected line of the active pane. */
export function current(state: State, context: Context): Line | undefined {
  const lines = context.linesOf(state)
  return lines[chosen(state.selections[state.pane], lines)]
}

export function move(state: State, action: Move, context: Context): State {
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
  if (state.detail) return scroll(state, by, context)
  const lines = context.linesOf(state)
  const from = chosen(state.selections[state.pane], lines)
  // A single step past the last line turns the page; a larger jump stops at the line.
  if (action === 'down' && from === lines.length - 1) return turn(state, 'older', context)
  if (action === 'up' && from <= 0) return turn(state, 'newer', context)
  return select(state, Math.min(lines.length - 1, Math.max(0, from + by)), lines)
}

function scroll(state: State, by: number, { lastScroll }: Context): State {
  if (!state.detail) return state
  const next = Math.max(0, Math.min(state.detail.scroll, lastScroll) + by)
  const end = state.detail.kind === 'build' ? Number.POSITIVE_INFINITY : lastScroll
  return { ...state, detail: { ...state.detail, scroll: next >= lastScroll ? end : next } }
}

function select(state: State, at: number, lines: readonly Line[]): State {
  const selection = { id: lines[at]?.id ?? null, at: Math.max(0, at) }
  return { ...state, selections: { ...state.selections, [state.pane]: selection } }
}

/** Turns to the next or the previous page of jobs, in the order of the list. */
export function turn(state: State, to: 'older' | 'newer', { next }: Context): State {
  if (state.pane !== 'jobs' || state.detail) return state
  const selections = (at: number) => ({ ...state.selections, jobs: { id: null, at } })
  if (to === 'older') {
    return next === null ? state : { ...state, pages: [...state.pages, next], selections: selections(0) }
  }
  if (state.pages.length === 1) return state
  return { ...state, pages: state.pages.slice(0, -1), selections: selections(Number.MAX_SAFE_INTEGER) }
}

/** Marks or unmarks the selected line, and moves to the next line. */
export function markLine(state: State, context: Context): State {
  const lines = context.linesOf(state)
  const at = chosen(state.selections[state.pane], lines)
  const line = lines[at]
  if (state.detail || line?.opens === undefined || line.opens === 'hook') return refused(state, context.now)
  const marks = state.marks[state.pane]
  const marked = marks.includes(line.id) ? marks.filter(id => id !== line.id) : [...marks, line.id]
  if (marked.length > MOST_MARKS) return full(state, context.now)
  return select(withMarks(state, marked), Math.min(lines.length - 1, at + 1), lines)
}

/** Marks all lines of the pane; unmarks them when all are marked. */
export function markAll(state: State, context: Context): State {
  const ids = context.linesOf(state).flatMap(({ id, opens }) => (opens && opens !== 'hook' ? [id] : []))
  if (state.detail || ids.length === 0) return refused(state, context.now)
  const marks = state.marks[state.pane]
  const others = marks.filter(id => !ids.includes(id))
  const marked = ids.every(id => marks.includes(id)) ? others : [...others, ...ids]
  return marked.length > MOST_MARKS ? full(state, context.now) : withMarks(state, marked)
}

const withMarks = (state: State, marked: readonly string[]): State => ({
  ...state,
  marks: { ...state.marks, [state.pane]: marked }
})

const refused = (state: State, now: number) =>
  say(state, 'only jobs and builds can be marked, in their lists: key 3, 4 or 5', now)

const full = (state: State, now: number) =>
  say(state, `at most ${MOST_MARKS} lines can be marked: act on them first`, now)
