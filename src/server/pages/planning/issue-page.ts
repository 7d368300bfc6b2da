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
  type ListedIssueRow
} from '../../../areas/planning/issues/issues.queries.js'
import { viewIssue } from '../../../areas/planning/issues/issues.view.js'
import { findLabels } from '../../../areas/planning/labels/labels.queries.js'
import { listParticipants } from '../../../areas/planning/participation/participants.queries.js'
import { viewTimeStats } from '../../../areas/planning/participation/time-tracking.view.js'
import { findProject, type ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { hasTodoOn } from '../../../areas/reach/todos/todos.js'
import { path } from '../components.js'
import { projectPath } from '../place.js'
import { type Discussion, readDiscussion } from './discussion.js'

type Asked = Pick<FastifyRequest, 'project' | 'actor' | 'query'>

export const issuePath = (project: ProjectRow, iid: number): string => projectPath(project) + path('issues', iid)

/** What the visitor may do with an issue. */
export const rightsOn = (project: ProjectRow, issue: IssueRow, actor: Actor) => ({
  update: mayUpdateIssue(actor, project, issue),
  plan: may(actor, 'issue.plan', project),
  remove: may(actor, 'issue.delete', project)
})

export async function readIssuePage(request: Asked, row: ListedIssueRow) {
  const { project, actor } = request
  const rights = rightsOn(project, row, actor)
  const command: Discussion['command'] = !rights.update ? null : row.state === 'closed' ? 'reopen' : 'close'
  const noteable = { type: 'Issue', id: row.id, authorId: row.author_id, confidential: row.confidential === 1 } as const
  const userId = actor.user?.id
  const [reading, discussion, participants, todo, movedTo] = await Promise.all([
    readIssue(row, actor),
    readDiscussion(request, noteable, { description: row.description, command }),
    listParticipants({ type: 'Issue', id: row.id }, row.author_id),
    userId === undefined ? false : hasTodoOn({ type: 'Issue', id: row.id, projectId: project.id }, userId),
    movedIssue(row, actor)
  ])
  const labels = await findLabels(project, reading.labels)
  return {
    title: `${row.title} (#${row.iid})`,
    issue: viewIssue(reading),
    labels: [...labels.values()].sort((a, b) => (a.title < b.title ? -1 : 1)),
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
