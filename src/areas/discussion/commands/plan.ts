// What the slash commands of a note change. Decided: those that do not apply stay in the text.
import { row } from '../../../db/sql.js'
import { parseWork } from '../../../lib/work-time.js'
import { type CommandLine, commandLines } from '../../../text/commands.js'
import { parseText } from '../../../text/references.js'
import { findLabels } from '../../labels/labels.queries.js'
import { isWorkInProgress, withMark } from '../../merge-requests/titles.js'
import { findMilestoneByTitle } from '../../milestones/milestones.queries.js'
import type { ProjectRow } from '../../projects/projects.queries.js'
import { emojiOf } from '../emoji.js'
import { appliesNow, type LaterCommand } from './later.js'

/** What a note is about, as far as commands look at it. */
export interface Subject {
  readonly type: 'Issue' | 'MergeRequest'
  readonly id: number
  readonly userId: number
  readonly title: string
  readonly state: string
  readonly labels: readonly string[]
  /** Whether the user may change the title and the state, and whether also the assignee, labels and so on. */
  readonly mayUpdate: boolean
  readonly mayPlan: boolean
}

export interface Change {
  readonly title?: string
  readonly state_event?: 'close' | 'reopen'
  readonly assignee_id?: number
  readonly milestone_id?: number
  /** Titles with commas between them. */
  readonly labels?: string
  readonly due_date?: string
  readonly target_branch?: string
}

export interface Plan {
  readonly taken: readonly CommandLine[]
  readonly change: Change
  /** Texts of durations; null removes. */
  readonly estimate?: string | null
  readonly spend?: string | null
  readonly subscribe?: boolean
  readonly award?: string
  /** What runs when the note is written. */
  readonly later?: LaterCommand
}

type Step = Omit<Plan, 'taken' | 'change'> & { readonly change?: Change }
type Command = (argument: string, subject: Subject, project: ProjectRow) => Step | undefined | Promise<Step | undefined>

const updating =
  (change: (argument: string, subject: Subject) => Change | undefined): Command =>
  (argument, subject) => {
    const found = subject.mayUpdate ? change(argument, subject) : undefined
    return found && { change: found }
  }
const planning =
  (change: (argument: string, subject: Subject, project: ProjectRow) => Promise<Change | undefined>): Command =>
  async (argument, subject, project) => {
    const found = subject.mayPlan ? await change(argument, subject, project) : undefined
    return found && { change: found }
  }
const timing =
  (step: (argument: string) => Step | undefined): Command =>
  (argument, subject) =>
    subject.mayUpdate ? step(argument) : undefined

const later =
  (name: LaterCommand): Command =>
  async (_, { type, id, userId }) =>
    (await appliesNow(name, { type, id, userId })) ? { later: name } : undefined

const isOpen = ({ state }: Subject) => state === 'opened' || state === 'reopened'
const isDuration = (text: string) => text !== '' && parseWork(text) !== undefined

async function labelsIn(text: string, project: ProjectRow): Promise<string[]> {
  const { references } = parseText(text, '')
  const titles = references
    .filter(({ kind, project: path }) => kind === 'label' && path === null)
    .map(({ name }) => name)
  return [...(await findLabels(project, titles)).keys()]
}

async function userIn(text: string): Promise<number | undefined> {
  const [name] = parseText(text, '').mentions
  if (name === undefined) return undefined
  const found = await row<{ id: number }>("select id from users where username_key = lower(?) and state = 'active'", [
    name
  ])
  return found?.id
}

async function milestoneIn(text: string, { id }: ProjectRow): Promise<number | undefined> {
  const [reference] = parseText(text, '').references.filter(({ kind }) => kind === 'milestone')
  return reference && (await findMilestoneByTitle(id, reference.name))?.id
}

const joined = (titles: readonly string[]) => ({ labels: [...new Set(titles)].join(',') })

const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['close', updating((_, subject) => (isOpen(subject) ? { state_event: 'close' } : undefined))],
  ['reopen', updating((_, { state }) => (state === 'closed' ? { state_event: 'reopen' } : undefined))],
  ['title', updating(text => (text === '' ? undefined : { title: text }))],
  [
    'wip',
    updating((_, { type, title }) =>
      type === 'MergeRequest' ? { title: withMark(title, !isWorkInProgress(title)) } : undefined
    )
  ],
  [
    'target_branch',
    updating((text, { type }) => (type === 'MergeRequest' && text !== '' ? { target_branch: text } : undefined))
  ],
  [
    'assign',
    planning(async text => {
      const id = await userIn(text)
      return id === undefined ? undefined : { assignee_id: id }
    })
  ],
  ['unassign', planning(async () => ({ assignee_id: 0 }))],
  [
    'milestone',
    planning(async (text, _, project) => {
      const id = await milestoneIn(text, project)
      return id === undefined ? undefined : { milestone_id: id }
    })
  ],
  ['remove_milestone', planning(async () => ({ milestone_id: 0 }))],
  [
    'label',
    planning(async (text, { labels }, project) => {
      const found = await labelsIn(text, project)
      return found.length === 0 ? undefined : joined([...labels, ...found])
    })
  ],
  [
    'relabel',
    planning(async (text, _, project) => {
      const found = await labelsIn(text, project)
      return found.length === 0 ? undefined : joined(found)
    })
  ],
  [
    'unlabel',
    planning(async (text, { labels }, project) => {
      const gone = new Set(text === '' ? labels : await labelsIn(text, project))
      return gone.size === 0 ? undefined : joined(labels.filter(title => !gone.has(title)))
    })
  ],
  [
    'due',
    planning(async (text, { type }) =>
      type === 'Issue' && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
        ? { due_date: text }
        : undefined
    )
  ],
  ['remove_due_date', planning(async (_, { type }) => (type === 'Issue' ? { due_date: '' } : undefined))],
  ['estimate', timing(text => (isDuration(text) && !text.startsWith('-') ? { estimate: text } : undefined))],
  ['remove_estimate', timing(() => ({ estimate: null }))],
  ['spend', timing(text => (isDuration(text) ? { spend: text } : undefined))],
  ['remove_time_spent', timing(() => ({ spend: null }))],
  ['todo', later('todo')],
  ['done', later('done')],
  ['subscribe', () => ({ subscribe: true })],
  ['unsubscribe', () => ({ subscribe: false })],
  [
    'award',
    text => {
      const name = emojiOf(text)
      return name === undefined ? undefined : { award: name }
    }
  ]
])

const NAMES: ReadonlySet<string> = new Set(COMMANDS.keys())

/** Whether a text has lines that may be commands. */
export const hasCommands = (text: string, names = NAMES): boolean => commandLines(text, names).length > 0

/** Returns what the commands of a text change. Each sees what those before it have changed. */
export async function planCommands(text: string, subject: Subject, project: ProjectRow, names = NAMES): Promise<Plan> {
  let plan: Plan = { taken: [], change: {} }
  for (const line of commandLines(text, names)) {
    const { title = subject.title, labels } = plan.change
    const now = { ...subject, title, ...(labels !== undefined && { labels: labels.split(',').filter(Boolean) }) }
    const step = await COMMANDS.get(line.name)?.(line.argument, now, project)
    if (!step) continue
    plan = { ...plan, ...step, change: { ...plan.change, ...step.change }, taken: [...plan.taken, line] }
  }
  return plan
}
