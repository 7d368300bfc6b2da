// Every key of the dashboard, once: the app obeys this table, `?` shows it, and docs/dashboard.md is held to it.

export const PANES = ['queues', 'processes', 'failures', 'builds', 'jobs'] as const
export type Pane = (typeof PANES)[number]

export type Action =
  | 'help'
  | 'filter'
  | 'up'
  | 'down'
  | 'page_up'
  | 'page_down'
  | 'first'
  | 'last'
  | 'next_pane'
  | 'previous_pane'
  | Pane
  | 'sort'
  | 'open'
  | 'back'
  | 'retry'
  | 'discard'
  | 'pause'
  | 'slower'
  | 'faster'
  | 'redraw'
  | 'quit'

export interface Binding {
  readonly keys: readonly string[]
  readonly action: Action
  readonly about: string
}

export const keymap: readonly Binding[] = [
  { keys: ['?'], action: 'help', about: 'show the keys' },
  { keys: ['/'], action: 'filter', about: 'show only lines with a text; enter keeps it, esc ends it' },
  { keys: ['up', 'k'], action: 'up', about: 'one line up' },
  { keys: ['down', 'j'], action: 'down', about: 'one line down' },
  { keys: ['pageup', 'ctrl-b'], action: 'page_up', about: 'a page up' },
  { keys: ['pagedown', 'ctrl-f'], action: 'page_down', about: 'a page down' },
  { keys: ['home', 'g'], action: 'first', about: 'the first line' },
  { keys: ['end', 'G'], action: 'last', about: 'the last line' },
  { keys: ['tab', 'right'], action: 'next_pane', about: 'the next pane' },
  { keys: ['shift-tab', 'left'], action: 'previous_pane', about: 'the pane before' },
  { keys: ['1'], action: 'queues', about: 'queues' },
  { keys: ['2'], action: 'processes', about: 'workers' },
  { keys: ['3'], action: 'failures', about: 'failed jobs' },
  { keys: ['4'], action: 'builds', about: 'running builds' },
  { keys: ['5'], action: 'jobs', about: 'newest jobs' },
  { keys: ['s'], action: 'sort', about: 'sort by the next column' },
  { keys: ['enter'], action: 'open', about: 'open: a queue’s jobs; a job’s error and payload in full' },
  { keys: ['esc'], action: 'back', about: 'back' },
  { keys: ['r'], action: 'retry', about: 'retry the job, with all its tries' },
  { keys: ['d', 'ctrl-d'], action: 'discard', about: 'discard the job; asks first' },
  { keys: ['p'], action: 'pause', about: 'pause the queue, or resume it' },
  { keys: ['+'], action: 'slower', about: 'look less often' },
  { keys: ['-'], action: 'faster', about: 'look more often' },
  { keys: ['R', 'ctrl-l'], action: 'redraw', about: 'look now, and draw the screen anew' },
  { keys: ['q', 'ctrl-c'], action: 'quit', about: 'quit' }
]

/** The lines of the help: what each key does, the panes' numbers in one line; who reads it has found its own key. */
export function helpLines(): { keys: string; about: string }[] {
  const panes = keymap.filter(({ action }) => isPane(action))
  const all = {
    keys: panes.map(({ keys }) => keys.join(' ')).join(' '),
    about: panes.map(({ about }) => about).join(', ')
  }
  return keymap.flatMap(binding => {
    if (isPane(binding.action)) return binding === panes[0] ? [all] : []
    if (binding.action === 'help') return []
    return [{ keys: binding.keys.join(' '), about: binding.about }]
  })
}

const isPane = (action: Action) => PANES.some(pane => pane === action)

const actions = new Map(keymap.flatMap(({ keys, action }) => keys.map(key => [key, action] as const)))

/** What a key does; undefined for one that does nothing. */
export const actionOf = (key: string): Action | undefined => actions.get(key)

/** What changes something, and is switched off by --read-only. */
export const changes = (action: Action | undefined): boolean =>
  action === 'retry' || action === 'discard' || action === 'pause'
