// Reads the targets of a page of to-dos with a fixed number of statements. Commits come from the pool of git readers, or from the
// machines of their repositories, with one question to each.
import type { Actor } from '../../../access/actor.js'
import type { Commit } from '../../../git/objects/objects.js'
import { type IssueReading, readIssues } from '../../planning/issues/issue-readings.js'
import { findIssues } from '../../planning/issues/issues.queries.js'
import { findMergeRequests } from '../../planning/merge-requests/merge-requests.queries.js'
import { type MergeRequestReading, readMergeRequests } from '../../planning/merge-requests/readings.js'
import { readNamedCommits } from '../../projects/projects/elsewhere/named-commits.js'
import type { TodoRow } from './todos.queries.js'

export type TodoReading = { readonly todo: TodoRow } & (
  | { readonly issue: IssueReading }
  | { readonly mergeRequest: MergeRequestReading }
  | { readonly commit: Commit }
)

/**
 * Reads what to-dos show to their user. Omits to-dos whose target no longer exists, such as a commit that no ref keeps, and those whose
 * commit is on a machine that does not answer.
 */
export async function readTodos(todos: readonly TodoRow[], actor: Actor): Promise<TodoReading[]> {
  const idsOf = (type: TodoRow['target_type']) => [
    ...new Set(todos.flatMap(each => (each.target_type === type && each.target_id !== null ? [each.target_id] : [])))
  ]
  const [issues, mergeRequests, commits] = await Promise.all([
    issuesOf(idsOf('Issue'), actor),
    mergeRequestsOf(idsOf('MergeRequest'), actor),
    commitsOf(todos)
  ])
  return todos.flatMap((todo): TodoReading[] => {
    const { target_type: type, target_id: id } = todo
    const commit = commits.get(todo.id)
    if (commit) return [{ todo, commit }]
    const issue = type === 'Issue' ? issues.get(id ?? 0) : undefined
    if (issue) return [{ todo, issue }]
    const mergeRequest = type === 'MergeRequest' ? mergeRequests.get(id ?? 0) : undefined
    return mergeRequest ? [{ todo, mergeRequest }] : []
  })
}

async function issuesOf(ids: readonly number[], actor: Actor): Promise<ReadonlyMap<number, IssueReading>> {
  if (ids.length === 0) return new Map()
  const read = await readIssues(await findIssues(ids, actor), actor)
  return new Map(read.map(reading => [reading.issue.id, reading]))
}

async function mergeRequestsOf(
  ids: readonly number[],
  actor: Actor
): Promise<ReadonlyMap<number, MergeRequestReading>> {
  if (ids.length === 0) return new Map()
  const read = await readMergeRequests(await findMergeRequests(ids, actor), actor)
  return new Map(read.map(reading => [reading.mergeRequest.id, reading]))
}

async function commitsOf(todos: readonly TodoRow[]): Promise<ReadonlyMap<number, Commit>> {
  const wanted = todos.flatMap(({ id: todo, commit_id: name, project_id: id, storage }) =>
    name === null ? [] : [{ todo, project: { id, storage }, name }]
  )
  const found = await readNamedCommits(wanted)
  return new Map(
    wanted.flatMap(({ todo }, at) => {
      const commit = found[at]
      return commit ? [[todo, commit] as const] : []
    })
  )
}
