// Lists every key of the dashboard. The app uses this table, `?` shows it, and a test compares it with docs/operate/dashboard.md.

export const PANES = ['queues', 'processes', 'failures', 'builds', 'jobs', 'hooks', 'mail'] as const
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
  | 'older'
  | 'newer'
  | 'sort'
  | 'reverse'
  | 'mark'
  | 'mark_all'
  | 'open'
  | 'back'
  | 'retry'
  | 'discard'
  | 'cancel'
  | 'pause'
  | 'slower'
  | 'faster'
  | 'redraw'
  | 'suspend'
  | 'quit'

export interface Binding {
  readonly keys: readonly string[]
  readonly action: Action
  readonly about: string
  /** Neighboring keys with the same text share one line of the help, which shows the first key of each. */
  readonly together?: string
}

const PANE_KEYS = 'queues, workers, failures, builds, jobs, failing hooks, mail'
const LINE = 'go one line up, one line down'
const PAGE = 'go one page up, one page down'
const ENDS = 'go to the first line, to the last line'
const TURN = 'go to the next pane, to the previous pane'
const STEP = 'show the next 100 jobs, the previous 100'
const LEAVE = 'quit, or stop until the command fg of the shell'
const PACE = 'update less often, more often'

export const keymap: readonly Binding[] = [
  { keys: ['?'], action: 'help', about: 'show all keys' },
  { keys: ['/'], action: 'filter', about: 'filter lines; for jobs, enter searches all; esc clears it' },
  { keys: ['up', 'k'], action: 'up', about: 'go one line up', together: LINE },
  { keys: ['down', 'j'], action: 'down', about: 'go one line down', together: LINE },
  { keys: ['pageup', 'ctrl-b'], action: 'page_up', about: 'go one page up', together: PAGE },
  { keys: ['pagedown', 'ctrl-f'], action: 'page_down', about: 'go one page down', together: PAGE },
  { keys: ['home', 'g'], action: 'first', about: 'go to the first line', together: ENDS },
  { keys: ['end', 'G'], action: 'last', about: 'go to the last line', together: ENDS },
  { keys: ['tab', 'right'], action: 'next_pane', about: 'go to the next pane', together: TURN },
  { keys: ['shift-tab', 'left'], action: 'previous_pane', about: 'go to the previous pane', together: TURN },
  { keys: ['1'], action: 'queues', about: 'queues', together: PANE_KEYS },
  { keys: ['2'], action: 'processes', about: 'workers', together: PANE_KEYS },
  { keys: ['3'], action: 'failures', about: 'failed jobs', together: PANE_KEYS },
  { keys: ['4'], action: 'builds', about: 'builds', together: PANE_KEYS },
  { keys: ['5'], action: 'jobs', about: 'all jobs', together: PANE_KEYS },
  { keys: ['6'], action: 'hooks', about: 'hooks that fail', together: PANE_KEYS },
  { keys: ['7'], action: 'mail', about: 'mails that were not sent at once', together: PANE_KEYS },
  { keys: [']'], action: 'older', about: 'show the next 100 jobs', together: STEP },
  { keys: ['['], action: 'newer', about: 'show the previous 100 jobs', together: STEP },
  { keys: ['s'], action: 'sort', about: 'sort by the next column' },
  { keys: ['S'], action: 'reverse', about: 'reverse the order' },
  { keys: ['space'], action: 'mark', about: 'mark the line, or unmark it' },
  { keys: ['*'], action: 'mark_all', about: 'mark all lines, or unmark them' },
  { keys: ['enter'], action: 'open', about: 'open the jobs of a queue, a job, a build with its trace' },
  { keys: ['esc'], action: 'back', about: 'go back' },
  { keys: ['r'], action: 'retry', about: 'retry the job or build, or all marked ones' },
  { keys: ['d', 'ctrl-d'], action: 'discard', about: 'discard the job, or all marked ones; asks first' },
  { keys: ['c'], action: 'cancel', about: 'cancel the build, or all marked ones; asks first' },
  { keys: ['p'], action: 'pause', about: 'pause the queue, or resume it' },
  { keys: ['+'], action: 'slower', about: 'update less often', together: PACE },
  { keys: ['-'], action: 'faster', about: 'update more often', together: PACE },
  { keys: ['R', 'ctrl-l'], action: 'redraw', about: 'update now, and redraw the screen' },
  { keys: ['q', 'ctrl-c'], action: 'quit', about: 'quit', together: LEAVE },
  { keys: ['ctrl-z'], action: 'suspend', about: 'stop until the command fg of the shell', together: LEAVE }
]

/** Returns the lines of the help: each key and what it does. The key `?` is omitted, because the reader has just pressed it. */
export function helpLines(): { keys: string; about: string }[] {
  const rest = keymap.filter(({ action }) => action !== 'help')
  return rest.flatMap((binding, at) => {
    const { together } = binding
    if (together === undefined) return [{ keys: binding.keys.join(' '), about: binding.about }]
    if (rest[at - 1]?.together === together) return []
    const all = rest.filter(other => other.together === together)
    return [{ keys: all.map(({ keys }) => keys[0]).join(' '), about: together }]
  })
}

const ACTIONS = new Map(keymap.flatMap(({ keys, action }) => keys.map(key => [key, action] as const)))

/** Returns the action of a key; undefined when the key does nothing. */
export const actionOf = (key: string): Action | undefined => ACTIONS.get(key === ' ' ? 'space' : key)

/** Whether an action changes something; --read-only disables such actions. */
export const changes = (action: Action | undefined): action is 'retry' | 'discard' | 'cancel' | 'pause' =>
  action === 'retry' || action === 'discard' || action === 'cancel' || action === 'pause'
