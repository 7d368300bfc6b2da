// The changes that the slash commands of a note make. Decided: commands that do not apply stay in the text.
import { row } from '../../../../db/connect/sql.js'
import { parseMoment } from '../../../../lib/moment.js'
import { LONGEST_WORK, parseWork } from '../../../../lib/work-time.js'
import { emojiOf } from '../../../../text/emoji.js'
import { readText } from '../../../../text/reading.js'
import { type CommandLine, commandLines } from '../../../../text/slash-commands.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import type { LabelEdit } from '../../labels/label-links.js'
import { findLabels } from '../../labels/labels.queries.js'
import { isWorkInProgress, withMark } from '../../merge-requests/titles.js'
import { findMilestoneByTitle } from '../../milestones/milestones.queries.js'
import { assignable } from '../../participation/assignees.js'
import { isOwnVote } from '../awards.js'
import { type DeferredCommand, deferredCommands } from './deferred.js'

/** The target of a note, with what the commands need to know about it. */
export interface Subject {
  readonly type: 'Issue' | 'MergeRequest'
  readonly id: number
  readonly userId: number
  readonly authorId: number
  readonly title: string
  readonly state: string
  readonly labels: readonly string[]
  /** Seconds that were logged. */
  readonly spent: number
  /** `mayUpdate`: the user may change the title and the state; `mayPlan`: also the assignee, labels and so on. */
  readonly mayUpdate: boolean
  readonly mayPlan: boolean
  /** Returns whether the user could accept it now. */
  readonly mayMerge: () => Promise<boolean>
}

interface Change {
  readonly title?: string
  readonly state_event?: 'close' | 'reopen'
  readonly assignee_id?: number
  readonly milestone_id?: number
  readonly labels?: LabelEdit
  readonly due_date?: string
  readonly target_branch?: string
}

export interface Plan {
  readonly taken: readonly CommandLine[]
  readonly change: Change
  /** Texts of durations; null removes the time. */
  readonly estimate?: string | null
  readonly spends?: readonly (string | null)[]
  readonly subscribe?: boolean
  readonly awards?: readonly string[]
  readonly merge?: boolean
  /** The command that runs after the note is written. */
  readonly later?: DeferredCommand
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
  (step: (argument: string, subject: Subject) => Step | undefined): Command =>
  (argument, subject) =>
    subject.mayUpdate ? step(argument, subject) : undefined

const later =
  (name: DeferredCommand): Command =>
  async (_, { type, id, userId }) =>
    (await (await deferredCommands()).applies(name, { type, id, userId })) ? { later: name } : undefined

const isOpen = ({ state }: Subject) => state === 'opened' || state === 'reopened'
const isDuration = (text: string) => text !== '' && parseWork(text) !== undefined

async function labelsIn(text: string, project: ProjectRow): Promise<string[]> {
  const { references } = await readText(text, '')
  const titles = references
    .filter(({ kind, project: path }) => kind === 'label' && path === null)
    .map(({ name }) => name)
  return [...(await findLabels(project, titles)).keys()]
}

/** Returns the user whom a text names, if this user may be the assignee. */
async function assigneeIn(text: string, { type }: Subject, project: ProjectRow): Promise<number | undefined> {
  const [name] = (await readText(text, '')).mentions
  if (name === undefined) return undefined
  const found = await row<{ id: number }>("select id from users where username_key = lower(?) and state = 'active'", [
    name
  ])
  return found && assignable(project.id, found.id, type === 'Issue' ? 'issue.read' : 'merge_request.read')
}

async function milestoneIn(text: string, { id }: ProjectRow): Promise<number | undefined> {
  const { references } = await readText(text, '')
  const reference = references.find(({ kind }) => kind === 'milestone')
  return reference && (await findMilestoneByTitle(id, reference.name))?.id
}

/** Whether the time can be logged: it must not subtract more than was logged before. */
const isSpendable = (text: string, { spent }: Subject) => {
  const after = spent + (parseWork(text) ?? Number.NaN)
  return after >= 0 && after <= LONGEST_WORK
}

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
  ['merge', async (_, { mayMerge }) => ((await mayMerge()) ? { merge: true } : undefined)],
  [
    'target_branch',
    updating((text, { type }) => (type === 'MergeRequest' && text !== '' ? { target_branch: text } : undefined))
  ],
  [
    'assign',
    planning(async (text, subject, project) => {
      const id = await assigneeIn(text, subject, project)
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
    planning(async (text, _, project) => {
      const found = await labelsIn(text, project)
      return found.length === 0 ? undefined : { labels: titles => [...new Set([...titles, ...found])] }
    })
  ],
  [
    'relabel',
    planning(async (text, _, project) => {
      const found = await labelsIn(text, project)
      return found.length === 0 ? undefined : { labels: () => found }
    })
  ],
  [
    'unlabel',
    planning(async (text, { labels }, project) => {
      if (text === '') return labels.length === 0 ? undefined : { labels: () => [] }
      const gone = new Set(await labelsIn(text, project))
      return gone.size === 0 ? undefined : { labels: titles => titles.filter(title => !gone.has(title)) }
    })
  ],
  [
    'due',
    planning(async (text, { type }) =>
      type === 'Issue' && /^\d{4}-\d\d-\d\d$/.test(text) && parseMoment(text) ? { due_date: text } : undefined
    )
  ],
  ['remove_due_date', planning(async (_, { type }) => (type === 'Issue' ? { due_date: '' } : undefined))],
  ['estimate', timing(text => (isDuration(text) && !text.startsWith('-') ? { estimate: text } : undefined))],
  ['remove_estimate', timing(() => ({ estimate: null }))],
  ['spend', timing((text, subject) => (isSpendable(text, subject) ? { spends: [text] } : undefined))],
  ['remove_time_spent', timing(() => ({ spends: [null] }))],
  ['todo', later('todo')],
  ['done', later('done')],
  ['subscribe', () => ({ subscribe: true })],
  ['unsubscribe', () => ({ subscribe: false })],
  [
    'award',
    (text, subject) => {
      const name = emojiOf(text)
      return name === undefined || isOwnVote(name, subject, subject.userId) ? undefined : { awards: [name] }
    }
  ]
])

const NAMES: ReadonlySet<string> = new Set(COMMANDS.keys())

/** Returns the lines of a text that may be commands. */
export const findCommands = (text: string, names = NAMES): readonly CommandLine[] => commandLines(text, names)

/** Returns the changes of commands. Each command sees the changes of those before it. */
export async function planCommands(
  commands: readonly CommandLine[],
  subject: Subject,
  project: ProjectRow
): Promise<Plan> {
  let plan: Plan = { taken: [], change: {} }
  for (const line of commands) {
    const step = await COMMANDS.get(line.name)?.(line.argument, changedBy(plan, subject), project)
    if (step) plan = { ...joined(plan, step), taken: [...plan.taken, line] }
  }
  return plan
}

const changedBy = ({ change, spends = [] }: Plan, subject: Subject): Subject => ({
  ...subject,
  title: change.title ?? subject.title,
  labels: change.labels?.(subject.labels) ?? subject.labels,
  spent: spends.reduce((spent, text) => (text === null ? 0 : spent + (parseWork(text) ?? 0)), subject.spent)
})

/** Adds a step to a plan. Labels, times and emoji add up; of other values, the last one counts. */
function joined(plan: Plan, step: Step): Plan {
  const { labels: before } = plan.change
  const { labels: edit } = step.change ?? {}
  return {
    ...plan,
    ...step,
    change: { ...plan.change, ...step.change, ...(before && edit && { labels: titles => edit(before(titles)) }) },
    ...(step.spends && { spends: [...(plan.spends ?? []), ...step.spends] }),
    ...(step.awards && { awards: [...(plan.awards ?? []), ...step.awards] })
  }
}
