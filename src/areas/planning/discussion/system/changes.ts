// The texts of automatic notes about changes of issues and merge requests.
import { marks, row, rows } from '../../../../db/connect/sql.js'
import { writeWork } from '../../../../lib/work-time.js'

type Pair<T> = readonly [before: T, after: T]

/** The changes of an issue or a merge request. */
export interface Changes {
  readonly title?: Pair<string>
  readonly description?: true
  readonly confidential?: Pair<boolean>
  readonly target_branch?: Pair<string>
  readonly assignee_id?: Pair<number | null>
  readonly milestone_id?: Pair<number | null>
  readonly due_date?: Pair<string | null>
  readonly labels?: { readonly added: readonly number[]; readonly removed: readonly number[] }
  readonly time_estimate?: number
  readonly time_spent?: number
}

/** Returns a text for each change that users want to see, with a word that distinguishes the changes. */
export async function textsOf(changes: Changes): Promise<readonly (readonly [key: string, text: string])[]> {
  const texts: [string, string | null][] = [
    ['title', changes.title ? `Changed title from **${changes.title[0]}** to **${changes.title[1]}**` : null],
    ['description', changes.description ? 'Changed the description' : null],
    ['confidential', changes.confidential ? confidentialText(changes.confidential[1]) : null],
    ['target_branch', changes.target_branch ? branchText(changes.target_branch) : null],
    ['assignee', changes.assignee_id ? await assigneeText(changes.assignee_id[1]) : null],
    ['milestone', changes.milestone_id ? await milestoneText(changes.milestone_id[1]) : null],
    ['due_date', changes.due_date ? dueText(changes.due_date[1]) : null],
    ['labels', changes.labels ? await labelsText(changes.labels) : null],
    ['time_estimate', changes.time_estimate === undefined ? null : estimateText(changes.time_estimate)],
    ['time_spent', changes.time_spent === undefined ? null : spentText(changes.time_spent)]
  ]
  return texts.filter((found): found is [string, string] => found[1] !== null)
}

const confidentialText = (now: boolean) => (now ? 'Made the issue confidential' : 'Made the issue visible to everyone')
const branchText = ([before, after]: Pair<string>) => `Changed target branch from \`${before}\` to \`${after}\``
const dueText = (day: string | null) => (day === null ? 'Removed due date' : `Changed due date to ${day}`)

async function assigneeText(id: number | null): Promise<string | null> {
  if (id === null) return 'Assignee removed'
  const found = await row<{ username: string }>('select username from users where id = ?', [id])
  return found ? `Reassigned to @${found.username}` : null
}

async function milestoneText(id: number | null): Promise<string | null> {
  if (id === null) return 'Milestone removed'
  const found = await row<{ title: string }>('select title from milestones where id = ?', [id])
  return found ? `Milestone changed to %${quoted(found.title)}` : null
}

async function labelsText({ added, removed }: NonNullable<Changes['labels']>): Promise<string | null> {
  const ids = [...added, ...removed]
  const found = await rows<{ id: number; title: string }>(
    `select id, title from labels where id in (${marks(ids)})`,
    ids
  )
  const titles = new Map(found.map(({ id, title }) => [id, `~${quoted(title)}`]))
  const list = (some: readonly number[]) => some.flatMap(id => titles.get(id) ?? [])
  const parts = [
    ['added', list(added)],
    ['removed', list(removed)]
  ] as const
  const said = parts.filter(([, some]) => some.length > 0).map(([verb, some]) => `${verb} ${some.join(' ')}`)
  if (said.length === 0) return null
  const text = `${said.join(' and ')} ${ids.length === 1 ? 'label' : 'labels'}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const quoted = (title: string) => (/^[\p{L}\p{N}_-]+$/u.test(title) ? title : `"${title}"`)

const estimateText = (seconds: number) =>
  seconds === 0 ? 'Removed time estimate' : `Changed time estimate to ${writeWork(seconds)}`

function spentText(seconds: number): string {
  return seconds < 0 ? `Subtracted ${writeWork(-seconds)} of time spent` : `Added ${writeWork(seconds)} of time spent`
}
