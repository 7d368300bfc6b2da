// The allowed values of an issue, and which of them a user may set.
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { BadParameters, Invalid } from '../../../errors.js'
import { parseMoment } from '../../../lib/moment.js'
import { isLonger } from '../../../lib/text-line.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { readTitles } from '../labels/label-links.js'
import { milestoneFor } from '../milestones/milestones.js'
import { assignable } from '../participation/assignees.js'
import { readDay } from '../participation/dates.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'
import type { IssueChange } from './issues.schema.js'

export const LONGEST_TITLE = 255

/** The values of an issue that a change sets. An absent value stays the same. */
export interface IssueValues {
  readonly title?: string
  readonly description?: string | null
  readonly confidential?: boolean
  readonly assigneeId?: number | null
  readonly milestoneId?: number | null
  readonly dueDate?: string | null
  /** The titles of its labels. */
  readonly labels?: readonly string[]
}

type Given = Omit<IssueChange, 'state_event' | 'updated_at'>

/**
 * Reads the values of a request. It silently drops values that only planners may set when other users send them, as the
 * requirement specifies. Throws Invalid with all problems of the texts, and BadParameters for a wrong day.
 */
export async function readValues(project: ProjectRow, given: Given, actor: Actor): Promise<IssueValues> {
  const { title, description, confidential } = given
  const values = {
    ...(title !== undefined && { title: title.trim() }),
    ...(description !== undefined && { description: description || null }),
    ...(confidential !== undefined && { confidential })
  }
  checkTexts(values)
  return may(actor, 'issue.plan', project) ? { ...values, ...(await readPlan(project, given)) } : values
}

async function readPlan(project: ProjectRow, given: Given): Promise<IssueValues> {
  const dueDate = readDay('due_date', given.due_date)
  const labels = given.labels === undefined ? undefined : readTitles(given.labels ?? '')
  const [assigneeId, milestoneId] = await Promise.all([
    assigneeFor(project, given.assignee_id),
    milestoneFor(project.id, given.milestone_id)
  ])
  return {
    ...(dueDate !== undefined && { dueDate }),
    ...(labels !== undefined && { labels }),
    ...(assigneeId !== undefined && { assigneeId }),
    ...(milestoneId !== undefined && { milestoneId })
  }
}

/** Returns undefined for a user who may not be the assignee: the value is then dropped. */
async function assigneeFor(project: ProjectRow, id: number | null | undefined): Promise<number | null | undefined> {
  if (!id) return id === undefined ? undefined : null
  return assignable(project.id, id, 'issue.read')
}

function checkTexts({ title, description }: IssueValues): void {
  const errors: Record<string, string[]> = {}
  if (title === '') errors.title = ["can't be blank"]
  if (isLonger(title ?? '', LONGEST_TITLE)) errors.title = [tooLong(LONGEST_TITLE)]
  if ((description?.length ?? 0) > LONGEST_DESCRIPTION) errors.description = [tooLong(LONGEST_DESCRIPTION)]
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

const tooLong = (most: number) => `is too long (maximum is ${most} characters)`

/**
 * Reads the time of a record from a request. Only administrators and the owners of personal projects may set it; it is
 * ignored for others. Throws BadParameters when it is not a time.
 */
export function readTime(
  name: 'created_at' | 'updated_at',
  text: string | undefined,
  project: Pick<ProjectRow, 'namespace_owner_id'>,
  { user }: Actor
): Date | undefined {
  if (text === undefined) return undefined
  const moment = parseMoment(text)
  if (!moment) throw new BadParameters(`${name} is invalid`)
  return user?.admin || (user && project.namespace_owner_id === user.id) ? moment : undefined
}
