import { IdOf, Integer, Paging, projectParam } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const ACTIONS = ['assigned', 'mentioned', 'build_failed', 'marked', 'approval_required'] as const
export const STATES = ['pending', 'done'] as const
/** Not specified: to-dos about commits in the filter. */
export const TYPES = ['Issue', 'MergeRequest', 'Commit'] as const

const filter = {
  action: Type.Optional(Type.Enum([...ACTIONS], { title: 'TodoAction', description: 'only to-dos with this reason' })),
  author_id: Type.Optional(Integer('only to-dos that this user has caused')),
  project_id: Type.Optional(Integer('only to-dos of this project')),
  state: Type.Optional(
    Type.Enum([...STATES], { title: 'TodoState', description: 'only to-dos in this state; default: pending' })
  ),
  type: Type.Optional(
    Type.Enum([...TYPES], { title: 'TodoType', description: 'only to-dos about targets of this type' })
  )
}

export const TodoFilter = Type.Object(filter)
export type TodoFilter = Static<typeof TodoFilter>
export const TodoListQuery = Type.Object({ ...Paging, ...filter })
export type TodoListQuery = Static<typeof TodoListQuery>
export const TodoParams = Type.Object({ id: IdOf('the to-do') })
export const IssueParams = Type.Object({ ...projectParam, issue_id: IdOf('the issue, not its number in the project') })
export const MergeRequestParams = Type.Object({
  ...projectParam,
  merge_request_id: IdOf('the merge request, not its number in the project')
})
