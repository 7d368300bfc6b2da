// The message of a merge commit when the request contains none.
import type { IssueRow } from '../../issues/issues.queries.js'
import type { MergeRequestRow } from '../merge-requests.queries.js'

/** Returns the default message: the branches, the title, the issues that it closes, and the number of the merge request. */
export function messageOf(found: MergeRequestRow, closes: readonly IssueRow[]): string {
  const { source_branch, target_branch, title, iid } = found
  return [
    `Merge branch '${source_branch}' into '${target_branch}'`,
    title,
    ...(closes.length > 0 ? [`Closes ${sentence(closes.map(issue => referenceTo(issue, found)))}`] : []),
    `See merge request !${iid}`
  ].join('\n\n')
}

const referenceTo = (issue: IssueRow, found: MergeRequestRow): string =>
  issue.project_id === found.target_project_id
    ? `#${issue.iid}`
    : `${issue.namespace_path}/${issue.project_path}#${issue.iid}`

function sentence(list: readonly string[]): string {
  const last = list.at(-1) ?? ''
  return list.length > 1 ? `${list.slice(0, -1).join(', ')} and ${last}` : last
}
