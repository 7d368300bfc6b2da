import { Flag, IdOf, Integer, Nullable, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'

const optional = Type.Optional
const branch = (description: string) => Text(description, { maxLength: 255 })

/** Older clients use the singular in the path of one merge request. `named` gives those operations ids of their own. */
export const PATHS = [
  { one: '/projects/:id/merge_requests/:merge_request_id', deprecated: false, named: () => ({}) },
  {
    one: '/projects/:id/merge_request/:merge_request_id',
    deprecated: true,
    named: (operationId: string) => ({ operationId })
  }
] as const

export const MergeRequestParams = Type.Object({ ...projectParam, merge_request_id: IdOf('the merge request') })
export const VersionParams = Type.Object({
  ...projectParam,
  merge_request_id: IdOf('the merge request'),
  version_id: IdOf('the version')
})
export const PageQuery = Type.Object(Paging)

export const MergeRequestListQuery = Type.Object({
  ...Paging,
  iid: optional(
    Type.Array(Integer('the number of a merge request'), {
      description: 'only merge requests with the first 100 of these numbers'
    })
  ),
  state: optional(
    Type.Enum(['opened', 'closed', 'merged', 'all'], {
      title: 'MergeRequestListState',
      description: 'only merge requests in this state; `opened` includes reopened ones; default all'
    })
  ),
  order_by: optional(
    Type.Enum(['created_at', 'updated_at'], {
      title: 'MergeRequestOrder',
      description: 'the order; default created_at'
    })
  ),
  sort: optional(
    Type.Enum(['asc', 'desc'], { title: 'MergeRequestSort', description: 'ascending or descending; default desc' })
  )
})
export type MergeRequestListQuery = Static<typeof MergeRequestListQuery>

/** The filters of pages. */
export const MergeRequestSearch = Type.Object({
  ...MergeRequestListQuery.properties,
  search: optional(Text('a part of the title', { maxLength: 255 })),
  author: optional(Text('the username of the author', { maxLength: 255 })),
  assignee: optional(Text('the username of the assignee', { maxLength: 255 })),
  labels: optional(Text('titles of labels, separated by commas: merge requests that have at least one of them')),
  milestone: optional(Text('the title of a milestone; `No Milestone` for those without one'))
})
export type MergeRequestSearch = Static<typeof MergeRequestSearch>

export const OwnMergeRequestQuery = Type.Object({
  ...MergeRequestListQuery.properties,
  scope: optional(Type.Enum(['created', 'assigned'], { description: 'created by you, or assigned to you' }))
})
export type OwnMergeRequestQuery = Static<typeof OwnMergeRequestQuery>

const attributes = {
  assignee_id: optional(Nullable(Integer('the id of the assignee; 0 for nobody'))),
  description: optional(Nullable(Text(`the description, at most ${LONGEST_DESCRIPTION} characters`))),
  labels: optional(Nullable(Text('the titles of its labels, separated by commas', { maxLength: 65_536 }))),
  milestone_id: optional(Nullable(Integer('the id of its milestone; 0 for none'))),
  remove_source_branch: optional(Flag('whether the source branch is removed when it is merged'))
}

export const MergeRequestBody = Type.Object(
  {
    source_branch: branch('the branch with the changes'),
    target_branch: branch('the branch that gets the changes'),
    title: Text('the title, at most 255 characters'),
    target_project_id: optional(Integer('the id of the target project; default the project in the path')),
    ...attributes
  },
  { title: 'MergeRequestBody', description: 'A new merge request.' }
)
export type MergeRequestBody = Static<typeof MergeRequestBody>

export const MergeRequestChange = Type.Object(
  {
    source_branch: optional(branch('ignored: it cannot change')),
    target_project_id: optional(Integer('ignored: it cannot change')),
    target_branch: optional(branch('the new target branch')),
    title: optional(Text('the title, at most 255 characters')),
    state_event: optional(
      Type.Enum(['close', 'reopen', 'merge'], {
        title: 'MergeRequestStateEvent',
        description: 'closes or reopens it; `merge` is ignored, because another operation merges'
      })
    ),
    ...attributes
  },
  { title: 'MergeRequestChange', description: 'A change of a merge request: at least one attribute.' }
)
export type MergeRequestChange = Static<typeof MergeRequestChange>

export const AcceptBody = Type.Object(
  {
    merge_commit_message: optional(
      Text('the message of the commit; the default names the branches and the title', { maxLength: 1_000_000 })
    ),
    should_remove_source_branch: optional(Flag('whether to remove the source branch')),
    merge_when_build_succeeds: optional(
      Flag('whether to wait for the pipeline of the source branch, if one is running')
    ),
    sha: optional(Text('the id that the newest commit of the source branch must have', { maxLength: 255 }))
  },
  { title: 'AcceptBody', description: 'How a merge request is merged.' }
)
export type AcceptBody = Static<typeof AcceptBody>
