// "Issue".
import { described, Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import { Milestone, viewMilestone } from '../milestones/milestones.view.js'
import type { IssueReading } from './issue-readings.js'
import { issueUrl } from './issues.queries.js'

export const Issue = Type.Object(
  {
    id: IdOf('the issue'),
    iid: Integer('the number in the project'),
    project_id: IdOf('its project'),
    title: Text('its title'),
    description: Nullable(Text('the description')),
    state: OneOf<string>(['opened', 'closed', 'reopened'], 'IssueState', 'the state'),
    created_at: Moment('when it was created'),
    updated_at: Moment('when it was last changed'),
    labels: Type.Array(Type.String(), { description: 'the titles of the labels, in order' }),
    milestone: Nullable(described(Milestone, 'the milestone for which it is planned')),
    assignee: Nullable(described(UserBasic, 'the user who works on it')),
    author: described(UserBasic, 'the user who created it'),
    subscribed: Flag('whether you get notifications about it: you subscribed, or you take part'),
    user_notes_count: Integer('the number of notes that people wrote'),
    upvotes: Integer('awards of `thumbsup`'),
    downvotes: Integer('awards of `thumbsdown`'),
    due_date: Nullable(Text('the due date', { format: 'date' })),
    confidential: Flag('whether only its author, its assignee and reporters can see it'),
    web_url: Text('the URL of its page')
  },
  { title: 'Issue', description: 'Something to do in a project.' }
)

export const viewIssue = ({ issue, milestone, ...reading }: IssueReading) => ({
  id: issue.id,
  iid: issue.iid,
  project_id: issue.project_id,
  title: issue.title,
  description: issue.description,
  state: issue.state,
  created_at: issue.created_at,
  updated_at: issue.updated_at,
  labels: [...reading.labels],
  milestone: milestone ? viewMilestone(milestone) : null,
  assignee:
    issue.assignee_name === null || issue.assignee_id === null
      ? null
      : viewUserBasic({
          id: issue.assignee_id,
          name: issue.assignee_name,
          username: issue.assignee_username ?? '',
          state: issue.assignee_state ?? 'active'
        }),
  author: viewUserBasic({
    id: issue.author_id,
    name: issue.author_name,
    username: issue.author_username,
    state: issue.author_state
  }),
  subscribed: reading.subscribed,
  user_notes_count: reading.counts.user_notes_count,
  upvotes: reading.counts.upvotes,
  downvotes: reading.counts.downvotes,
  due_date: issue.due_date,
  confidential: issue.confidential === 1,
  web_url: issueUrl(issue)
})
