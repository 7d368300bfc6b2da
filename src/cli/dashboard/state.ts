// The state of the dashboard, and how each key changes it. Pure functions: any other change is an effect, which the app
// carries out.
import { change } from './changes.js'
import { type Action, actionOf, changes, PANES, type Pane } from './keymap.js'
import { type Context, type RecordChange, type Selection, type State, type Step, say } from './model.js'
import { current, type Move, markAll, markLine, move, turn } from './moves.js'

const INTERVALS = [0.5, 1, 2, 5, 10, 30, 60]
const LONGEST_FILTER = 60
/** Milliseconds after which a message disappears. */
const MESSAGE_LASTS = 10_000

const forPanes = <T>(value: T) => Object.fromEntries(PANES.map(pane => [pane, value])) as { [Name in Pane]: T }

export const firstState = (interval: number): State => ({
  pane: 'queues',
  mode: 'browse',
  filter: '',
  search: '',
  selections: forPanes<Selection>({ id: null, at: 0 }),
  sorts: forPanes(0),
  reversed: forPanes(false),
  marks: forPanes<readonly string[]>([]),
  queue: null,
  pages: [null],
  detail: null,
  confirm: null,
  message: null,
  interval
})

/** Returns the state after the source has answered: without messages and questions that no longer apply. */
export function settle(state: State, { now, linesOf, openedIsGone }: Context): State {
  const { message, confirm, detail, pane } = state
  const old = message !== null && (message.away || now - message.at >= MESSAGE_LASTS)
  const next = old ? { ...state, message: null } : state
  if (confirm === null) return next
  // Marked jobs may be on another page, so it is unknown whether they still exist.
  if (detail === null && pane === 'jobs' && confirm.ids.length > 1) return next
  const lines = detail === null ? linesOf(state) : []
  const gone = detail === null ? !confirm.ids.some(id => lines.some(line => line.id === String(id))) : openedIsGone
  return gone ? say({ ...next, confirm: null }, 'no longer possible: it was finished or deleted', now) : next
}

/** Returns the state after a key, and the effect that the key requests. */
export function press(state: State, key: string, context: Context): Step {
  if (key === 'ctrl-c') return { state, effect: { kind: 'quit' } }
  if (key === 'ctrl-z') return { state, effect: { kind: 'suspend' } }
  if (state.confirm) return answer(state, state.confirm, key, context.now)
  if (state.mode === 'filter') return { state: typeFilter({ ...state, message: null }, key, context.now) }
  const action = actionOf(key)
  if (state.mode === 'help') {
    if (action === 'quit') return { state, effect: { kind: 'quit' } }
    return { state: { ...state, mode: 'browse' } }
  }
  if (action === undefined) return { state }
  if (changes(action) && context.readOnly) {
    return { state: say(state, 'nothing changed: the dashboard runs with --read-only', context.now) }
  }
  return act({ ...state, message: null }, action, context)
}

function answer(state: State, confirm: RecordChange, key: string, now: number): Step {
  const done = { ...state, confirm: null, message: null }
  return key === 'y' || key === 'Y' ? { state: done, effect: confirm } : { state: say(done, 'nothing changed', now) }
}

function typeFilter(state: State, key: string, now: number): State {
  if (key === 'enter') return searchFor({ ...state, mode: 'browse' }, state.filter)
  if (key === 'esc') return searchFor({ ...state, mode: 'browse', filter: '' }, '')
  if (key === 'backspace') return { ...state, filter: [...state.filter].slice(0, -1).join('') }
  if ([...key].length !== 1) return state
  if (state.filter.length < LONGEST_FILTER) return { ...state, filter: state.filter + key }
  return say(state, `a filter has at most ${LONGEST_FILTER} characters`, now)
}

function searchFor(state: State, text: string): State {
  return state.pane !== 'jobs' || state.search === text ? state : { ...atFirstPage(state), search: text }
}

const atFirstPage = (state: State): State => ({
  ...state,
  pages: [null],
  selections: { ...state.selections, jobs: { id: null, at: 0 } }
})

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
    case 'older':
    case 'newer':
      return { state: turn(state, action, context) }
    case 'sort':
      return { state: { ...state, sorts: { ...state.sorts, [state.pane]: state.sorts[state.pane] + 1 } } }
    case 'reverse':
      return { state: reverse(state) }
    case 'mark':
      return { state: markLine(state, context) }
    case 'mark_all':
      return { state: markAll(state, context) }
    case 'open':
      return { state: open(state, context) }
    case 'back':
      return { state: back(state) }
    case 'slower':
    case 'faster':
      return { state: pace(state, action, context.now) }
    case 'retry':
    case 'discard':
    case 'cancel':
    case 'pause':
      return change(state, action, context)
    case 'redraw':
    case 'suspend':
    case 'quit':
      return { state, effect: { kind: action } }
    default:
      return { state: isPane(action) ? toPane(state, action) : move(state, action, context) }
  }
}

const isPane = (action: Pane | Move): action is Pane => PANES.some(pane => pane === action)

/** Switches to a pane; this closes an open record or queue. A filter belongs to the pane in which it was typed. */
function toPane(state: State, pane: Pane): State {
  const next = { ...state, pane, detail: null, queue: null }
  const other = state.queue === null && state.search === '' ? next : { ...atFirstPage(next), search: '' }
  return pane === state.pane ? other : { ...other, filter: '' }
}

function neighbour(pane: Pane, by: number): Pane {
  return PANES[(PANES.indexOf(pane) + by + PANES.length) % PANES.length] ?? pane
}

/** Reverses the order. For jobs, the reversed order begins at the other end of all jobs. */
function reverse(state: State): State {
  const reversed = { ...state.reversed, [state.pane]: !state.reversed[state.pane] }
  return { ...(state.pane === 'jobs' ? atFirstPage(state) : state), reversed }
}

function pace(state: State, action: 'slower' | 'faster', now: number): State {
  const wanted =
    action === 'slower'
      ? INTERVALS.find(each => each > state.interval)
      : INTERVALS.findLast(each => each < state.interval)
  const interval = wanted ?? state.interval
  return say({ ...state, interval }, `updates every ${interval} s`, now)
}

function back(state: State): State {
  if (state.detail) return { ...state, detail: null }
  if (state.filter !== '') return searchFor({ ...state, filter: '' }, '')
  if (state.marks[state.pane].length > 0) return { ...state, marks: { ...state.marks, [state.pane]: [] } }
  return state.queue === null ? state : toPane(state, 'queues')
}

function open(state: State, context: Context): State {
  const line = current(state, context)
  if (state.detail || !line) return state
  if (line.opens) {
    // Readers of a trace usually want its end.
    const scroll = line.opens === 'build' ? Number.POSITIVE_INFINITY : 0
    return { ...state, detail: { kind: line.opens, id: Number(line.id), scroll } }
  }
  if (line.queue === undefined) return state
  return { ...atFirstPage(state), pane: 'jobs', queue: line.queue, filter: '', search: '' }
}
