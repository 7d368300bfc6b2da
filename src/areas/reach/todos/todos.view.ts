// The record "Todo".
import { publicUrl } from '../../../config.js'
import { described, IdOf, Moment, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { CommitItem, viewCommitItem } from '../../code/repository/repository.view.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import { Issue, viewIssue } from '../../planning/issues/issues.view.js'
import { MergeRequest, viewMergeRequest } from '../../planning/merge-requests/merge-requests.view.js'
import type { TodoReading } from './readings.js'
import type { TodoRow } from './todos.queries.js'
import { ACTIONS, STATES, TYPES } from './todos.schema.js'

const TodoProject = Type.Object(
  {
    id: IdOf('the project'),
    name: Text('the display name'),
    name_with_namespace: Text('the display name after that of the namespace'),
    path: Text('the last part of the path'),
    path_with_namespace: Text('the whole path, such as `diaspora/diaspora`')
  },
  { title: 'TodoProject', description: 'The project of a to-do.' }
)

const UnreadCommit = Type.Object(
  { id: Text('the id of the commit'), short_id: Text('the first 8 digits of the id') },
  {
    title: 'UnreadCommit',
    description: 'Instead of a commit that cannot be read when its to-do is marked as done.'
  }
)

export const Todo = Type.Object(
  {
    id: IdOf('the to-do'),
    project: described(TodoProject, 'the project of the target'),
    author: described(UserBasic, 'the user who caused the to-do'),
    action_name: OneOf([...ACTIONS], 'TodoActionName', 'why you have the to-do'),
    target_type: OneOf([...TYPES], 'TodoTargetType', 'the type of the target'),
    target: Type.Union([Issue, MergeRequest, CommitItem, UnreadCommit], { description: 'the target' }),
    target_url: Text('the URL of the page of the target, or of the note about it'),
    body: Text('the text of the note, or the title of the target'),
    state: OneOf([...STATES], 'TodoStateName', 'whether the to-do is done'),
    created_at: Moment('when it was created')
  },
  { title: 'Todo', description: 'A target that needs your attention.' }
)

export const viewTodo = (reading: TodoReading) => viewAs(reading.todo, targetOf(reading))

/** The view of a to-do about a commit that no machine can read at the moment. */
export function viewUnread(todo: TodoRow, commit: string) {
  const target = { id: commit, short_id: commit.slice(0, 8) }
  return viewAs(todo, { page: `commit/${commit}`, title: target.short_id, target })
}

interface Shown {
  readonly page: string
  readonly title: string
  readonly target: Static<typeof Todo>['target']
}

function viewAs(todo: TodoRow, { page, title, target }: Shown) {
  const path = `${todo.namespace_path}/${todo.project_path}`
  return {
    id: todo.id,
    project: {
      id: todo.project_id,
      name: todo.project_name,
      name_with_namespace: `${todo.namespace_name} / ${todo.project_name}`,
      path: todo.project_path,
      path_with_namespace: path
    },
    author: viewUserBasic({
      id: todo.author_id,
      name: todo.author_name,
      username: todo.author_username,
      state: todo.author_state
    }),
    action_name: todo.action,
    target_type: todo.target_type,
    target,
    target_url: `${publicUrl()}/${path}/${page}${todo.note_id === null ? '' : `#note_${todo.note_id}`}`,
    body: todo.note ?? title,
    state: todo.state,
    created_at: todo.created_at
  }
}

function targetOf(reading: TodoReading) {
  if ('issue' in reading) {
    const { iid, title } = reading.issue.issue
    return { page: `issues/${iid}`, title, target: viewIssue(reading.issue) }
  }
  if ('mergeRequest' in reading) {
    const { iid, title } = reading.mergeRequest.mergeRequest
    return { page: `merge_requests/${iid}`, title, target: viewMergeRequest(reading.mergeRequest) }
  }
  const target = viewCommitItem(reading.commit)
  return { page: `commit/${target.id}`, title: target.title, target }
}
