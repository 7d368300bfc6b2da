// Lists every key of the dashboard. The app follows this table, `?` shows it, and a test compares it with
// docs/dashboard.md.

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
  { keys: ['?'], action: 'help', about: 'show all keys' },
  { keys: ['/'], action: 'filter', about: 'filter lines by a text; enter keeps it, esc removes it' },
  { keys: ['up', 'k'], action: 'up', about: 'go one line up' },
  { keys: ['down', 'j'], action: 'down', about: 'go one line down' },
  { keys: ['pageup', 'ctrl-b'], action: 'page_up', about: 'go one page up' },
  { keys: ['pagedown', 'ctrl-f'], action: 'page_down', about: 'go one page down' },
  { keys: ['home', 'g'], action: 'first', about: 'go to the first line' },
  { keys: ['end', 'G'], action: 'last', about: 'go to the last line' },
  { keys: ['tab', 'right'], action: 'next_pane', about: 'go to the next pane' },
  { keys: ['shift-tab', 'left'], action: 'previous_pane', about: 'go to the previous pane' },
  { keys: ['1'], action: 'queues', about: 'queues' },
  { keys: ['2'], action: 'processes', about: 'workers' },
  { keys: ['3'], action: 'failures', about: 'failed jobs' },
  { keys: ['4'], action: 'builds', about: 'running builds' },
  { keys: ['5'], action: 'jobs', about: 'newest jobs' },
  { keys: ['s'], action: 'sort', about: 'sort by the next column' },
  { keys: ['enter'], action: 'open', about: 'open the jobs of a queue, or a job with its error and payload' },
  { keys: ['esc'], action: 'back', about: 'go back' },
  { keys: ['r'], action: 'retry', about: 'retry the job at once; it gets all its tries again' },
  { keys: ['d', 'ctrl-d'], action: 'discard', about: 'discard the job; asks first' },
  { keys: ['p'], action: 'pause', about: 'pause the queue, or resume it' },
  { keys: ['+'], action: 'slower', about: 'update less often' },
  { keys: ['-'], action: 'faster', about: 'update more often' },
  { keys: ['R', 'ctrl-l'], action: 'redraw', about: 'update now, and redraw the screen' },
  { keys: ['q', 'ctrl-c'], action: 'quit', about: 'quit' }
]

/**
 * The lines of the help: each key with what it does. The numbers of the panes share one line, and the key `?` is left
 * out, as the reader has just found it.
 */
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

const ACTIONS = new Map(keymap.flatMap(({ keys, action }) => keys.map(key => [key, action] as const)))

/** The action of a key; undefined when the key does nothing. */
export const actionOf = (key: string): Action | undefined => ACTIONS.get(key)

/** Whether an action changes something; --read-only disables such actions. */
export const changes = (action: Action | undefined): boolean =>
  action === 'retry' || action === 'discard' || action === 'pause'
