import { Flag, groupParam, IdOf, Integer, Nullable, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'

export const IssueParams = Type.Object({ ...projectParam, issue_id: IdOf('the issue, not its number in the project') })
export const MilestoneIssueParams = Type.Object({ ...projectParam, milestone_id: IdOf('the milestone') })
export const GroupIssueParams = Type.Object(groupParam)

const filters = (matching: string) => ({
  ...Paging,
  state: Type.Optional(
    Type.Enum(['opened', 'closed', 'all'], {
      title: 'IssueFilter',
      description: 'only issues in this state; `opened` includes reopened issues'
    })
  ),
  labels: Type.Optional(Text(`titles of labels, separated by commas: ${matching}`)),
  milestone: Type.Optional(Text('the title of a milestone; `No Milestone` for issues without one')),
  order_by: Type.Optional(
    Type.Enum(['created_at', 'updated_at'], { title: 'IssueOrder', description: 'the order; default created_at' })
  ),
  sort: Type.Optional(
    Type.Enum(['asc', 'desc'], { title: 'SortDirection', description: 'ascending or descending; default desc' })
  )
})

const ANY = 'issues that have at least one of them'
export const OwnIssueQuery = Type.Object(filters(ANY))
export const GroupIssueQuery = Type.Object(filters('issues that have all of them'))
export const IssueListQuery = Type.Object({
  ...filters(ANY),
  iid: Type.Optional(
    Type.Array(Integer('the number of an issue in the project'), { maxItems: 100, description: 'only these' })
  )
})
export type IssueListQuery = Static<typeof IssueListQuery>
/** What pages filter by in addition. */
export const IssueSearch = Type.Object({
  ...IssueListQuery.properties,
  search: Type.Optional(Text('a part of the title', { maxLength: 255 })),
  author: Type.Optional(Text('the username of the author', { maxLength: 255 })),
  assignee: Type.Optional(Text('the username of the assignee', { maxLength: 255 }))
})
export type IssueSearch = Static<typeof IssueSearch>
export const OwnIssueSearch = Type.Object({
  ...OwnIssueQuery.properties,
  scope: Type.Optional(
    Type.Enum(['created', 'assigned'], {
      title: 'IssueScope',
      description: 'issues that you created, or have to work on'
    })
  )
})
export type OwnIssueSearch = Static<typeof OwnIssueSearch>
export const MilestoneIssueQuery = Type.Object(Paging)

const plan = {
  description: Type.Optional(Nullable(Text(`the description, at most ${LONGEST_DESCRIPTION} characters`))),
  assignee_id: Type.Optional(Nullable(Integer('the id of the assignee; 0 for nobody'))),
  milestone_id: Type.Optional(Nullable(Integer('the id of a milestone of the project; 0 for none'))),
  labels: Type.Optional(Nullable(Text('titles of labels, separated by commas; they replace all its labels'))),
  due_date: Type.Optional(Nullable(Text('the due date, such as 2027-01-31; empty for none', { maxLength: 64 }))),
  confidential: Type.Optional(Flag('whether only its author, its assignee and reporters can see it'))
}

export const IssueBody = Type.Object(
  {
    title: Type.Optional(
      Text('the title, at most 255 characters; required without `merge_request_for_resolving_discussions`')
    ),
    ...plan,
    merge_request_for_resolving_discussions: Type.Optional(
      Integer('the number of a merge request of the project: the title becomes `Follow-up from "..."`')
    ),
    created_at: Type.Optional(
      Text('when it was created; only administrators and owners of personal projects may set it', { maxLength: 64 })
    )
  },
  {
    title: 'IssueBody',
    description: 'A new issue.',
    if: {
      required: ['merge_request_for_resolving_discussions'],
      properties: { merge_request_for_resolving_discussions: {} }
    },
    else: { required: ['title'], properties: { title: {} } }
  }
)
export type IssueBody = Static<typeof IssueBody>
export const IssueChange = Type.Object(
  {
    title: Type.Optional(Text('the title, at most 255 characters')),
    ...plan,
    state_event: Type.Optional(
      Type.Enum(['close', 'reopen'], { title: 'IssueEvent', description: 'closes or reopens it' })
    ),
    updated_at: Type.Optional(
      Text('when it was changed; only administrators and owners of personal projects may set it', { maxLength: 64 })
    )
  },
  { title: 'IssueChange', description: 'A change of an issue: at least one attribute besides the time.' }
)
export type IssueChange = Static<typeof IssueChange>

export const MoveBody = Type.Object(
  { to_project_id: IdOf('the project that gets the issue') },
  { title: 'IssueMove', description: 'The project to which an issue moves.' }
)
