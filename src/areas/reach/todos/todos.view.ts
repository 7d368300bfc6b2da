// The record "Todo".
import { publicUrl } from '../../../config.js'
import { described, IdOf, Moment, OneOf, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { CommitItem, viewCommitItem } from '../../code/repository/repository.view.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import { Issue, viewIssue } from '../../planning/issues/issues.view.js'
import { MergeRequest, viewMergeRequest } from '../../planning/merge-requests/merge-requests.view.js'
import type { TodoReading } from './readings.js'
import { ACTIONS, STATES, TYPES } from './todos.schema.js'

const TodoProject = Type.Object(
  {
    id: IdOf('the project'),
    name: Text('the name that people read'),
    name_with_namespace: Text('the same with the name of the namespace before it'),
    path: Text('the last part of the path'),
    path_with_namespace: Text('the whole path, such as `diaspora/diaspora`')
  },
  { title: 'TodoProject', description: 'The project of a to-do.' }
)

export const Todo = Type.Object(
  {
    id: IdOf('the to-do'),
    project: described(TodoProject, 'the project of what it is about'),
    author: described(UserBasic, 'the user who has caused it'),
    action_name: OneOf([...ACTIONS], 'TodoActionName', 'why it is there'),
    target_type: OneOf([...TYPES], 'TodoTargetType', 'what kind of thing it is about'),
    target: Type.Union([Issue, MergeRequest, CommitItem], { description: 'what it is about' }),
    target_url: Text('the URL of the page of that, or of the note about it'),
    body: Text('the text of the note, or the title of what it is about'),
    state: OneOf([...STATES], 'TodoStateName', 'whether it is done'),
    created_at: Moment('when it was made')
  },
  { title: 'Todo', description: 'Something that waits for you.' }
)

export function viewTodo(reading: TodoReading) {
  const { todo } = reading
  const { page, title, target } = targetOf(reading)
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
