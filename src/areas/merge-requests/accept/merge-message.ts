// The message of the commit of a merge, when nobody gives one.
import type { MergeRequestRow } from '../merge-requests.queries.js'

/** The default message: the branches, the title, and the number of the merge request. */
export function messageOf({ source_branch, target_branch, title, iid }: MergeRequestRow): string {
  return [`Merge branch '${source_branch}' into '${target_branch}'`, title, `See merge request !${iid}`].join('\n\n')
}
