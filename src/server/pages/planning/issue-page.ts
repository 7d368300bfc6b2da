// What the page of an issue shows.
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../../../access/actor.js'
import { canSee, may } from '../../../access/authorize.js'
import { readIssue } from '../../../areas/planning/issues/issue-readings.js'
import { mayUpdateIssue } from '../../../areas/planning/issues/issues.js'
import {
  canSeeIssue,
  findIssue,
  type IssueRow,
  issueUrl,
  requireNumberedIssue
} from '../../../areas/planning/issues/issues.queries.js'
import { viewIssue } from '../../../areas/planning/issues/issues.view.js'
import { findLabels } from '../../../areas/planning/labels/labels.queries.js'
import { listParticipants } from '../../../areas/planning/participation/participants.queries.js'
import { viewTimeStats } from '../../../areas/planning/participation/time-tracking.view.js'
import { findProject, type ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { hasTodoOn } from '../../../areas/reach/todos/todos.js'
import { keptReading } from '../../plugins/kept-readings.js'
import { path } from '../components.js'
import { projectPath } from '../place.js'
import { type Discussion, readStream, showDiscussion } from './discussion.js'

type Asked = Pick<FastifyRequest, 'project' | 'actor' | 'query' | 'method' | 'url'>

export const issuePath = (project: ProjectRow, iid: number): string => projectPath(project) + path('issues', iid)

/** What the visitor may do with an issue. */
export const rightsOn = (project: ProjectRow, issue: IssueRow, actor: Actor) => ({
  update: mayUpdateIssue(actor, project, issue),
  plan: may(actor, 'issue.plan', project),
  remove: may(actor, 'issue.delete', project)
})

/** Reads an issue and everything that its page shows of the project: the version proves it. Throws NotFound. */
async function readRecords(request: Asked, iid: number) {
  const { project, actor } = request
  const row = await requireNumberedIssue(project, iid, actor)
  const [reading, stream, participants] = await Promise.all([
    readIssue(row, actor),
    readStream(request, noteableOf(row)),
    listParticipants({ type: 'Issue', id: row.id }, row.author_id)
  ])
  const labels = await findLabels(project, reading.labels)
  return {
    ...{ row, reading, stream, participants },
    labels: [...labels.values()].sort((a, b) => (a.title < b.title ? -1 : 1))
  }
}

const noteableOf = ({ id, author_id, confidential }: IssueRow) =>
  ({ type: 'Issue', id, authorId: author_id, confidential: confidential === 1 }) as const

export async function readIssuePage(request: Asked, iid: number) {
  const { project, actor } = request
  const read = await keptReading(request, () => readRecords(request, iid))
  const { row, reading, stream, participants, labels } = read
  const rights = rightsOn(project, row, actor)
  const command: Discussion['command'] = !rights.update ? null : row.state === 'closed' ? 'reopen' : 'close'
  const userId = actor.user?.id
  const [discussion, todo, movedTo] = await Promise.all([
    showDiscussion(request, noteableOf(row), stream, {
      description: row.description,
      command,
      kept: { read, here: request.url }
    }),
    userId === undefined ? false : hasTodoOn({ type: 'Issue', id: row.id, projectId: project.id }, userId),
    movedIssue(row, actor)
  ])
  return {
    title: `${row.title} (#${row.iid})`,
    issue: viewIssue(reading),
    labels,
    time: viewTimeStats(row),
    discussion,
    participants,
    todo,
    rights,
    movedTo,
    base: issuePath(project, row.iid),
    projectPath: projectPath(project)
  }
}

/** Returns the URL of the issue that an issue has become by a move, if the visitor may see it. */
async function movedIssue({ moved_to_id: id }: IssueRow, actor: Actor): Promise<string | null> {
  const issue = id === null ? undefined : await findIssue(id)
  const project = issue && (await findProject(issue.project_id, actor))
  return issue && project && canSee(project, actor) && canSeeIssue(issue, project, actor) ? issueUrl(issue) : null
}
