import { Flag, IdOf, Integer, Nullable, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'

const optional = Type.Optional
const branch = (description: string) => Text(description, { maxLength: 255 })

/** Older clients name one merge request by the singular. `named` gives those operations names of their own. */
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
    Type.Array(Integer('a number'), { description: 'only those with these numbers, the first 100 of them' })
  ),
  state: optional(
    Type.Enum(['opened', 'closed', 'merged', 'all'], {
      title: 'MergeRequestListState',
      description: 'only those in this state; `opened` includes reopened ones; default all'
    })
  ),
  order_by: optional(
    Type.Enum(['created_at', 'updated_at'], {
      title: 'MergeRequestOrder',
      description: 'what the list is sorted by; default created_at'
    })
  ),
  sort: optional(
    Type.Enum(['asc', 'desc'], { title: 'MergeRequestSort', description: 'ascending or descending; default desc' })
  )
})
export type MergeRequestListQuery = Static<typeof MergeRequestListQuery>

const attributes = {
  assignee_id: optional(Nullable(Integer('the user who looks after it; 0 for nobody'))),
  description: optional(Nullable(Text(`what it is about, at most ${LONGEST_DESCRIPTION} characters`))),
  labels: optional(Nullable(Text('the titles of its labels, with commas between them', { maxLength: 65_536 }))),
  milestone_id: optional(Nullable(Integer('its milestone; 0 for none'))),
  remove_source_branch: optional(Flag('whether the source branch is removed when it is merged'))
}

export const MergeRequestBody = Type.Object(
  {
    source_branch: branch('the branch with the changes'),
    target_branch: branch('the branch that shall get them'),
    title: Text('what it is called, at most 255 characters'),
    target_project_id: optional(Integer('the project that shall get them; default the project of the path')),
    ...attributes
  },
  { title: 'MergeRequestBody', description: 'A new merge request.' }
)
export type MergeRequestBody = Static<typeof MergeRequestBody>

export const MergeRequestChange = Type.Object(
  {
    source_branch: optional(branch('ignored: it stays as it is')),
    target_project_id: optional(Integer('ignored: it stays as it is')),
    target_branch: optional(branch('another branch that shall get the changes')),
    title: optional(Text('what it is called, at most 255 characters')),
    state_event: optional(
      Type.Enum(['close', 'reopen', 'merge'], {
        title: 'MergeRequestStateEvent',
        description: '`merge` does nothing: another operation merges'
      })
    ),
    ...attributes
  },
  { title: 'MergeRequestChange', description: 'What changes of a merge request; at least one of all.' }
)
export type MergeRequestChange = Static<typeof MergeRequestChange>

export const AcceptBody = Type.Object(
  {
    merge_commit_message: optional(
      Text('the message of the commit; the default names the branches and the title', { maxLength: 1_000_000 })
    ),
    should_remove_source_branch: optional(Flag('whether the source branch is removed')),
    merge_when_build_succeeds: optional(Flag('whether to wait for the pipeline of the source branch, when one runs')),
    sha: optional(Text('the commit that the source branch must have', { maxLength: 255 }))
  },
  { title: 'AcceptBody', description: 'How a merge request is merged.' }
)
export type AcceptBody = Static<typeof AcceptBody>
