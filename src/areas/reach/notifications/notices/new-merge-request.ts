// What the mail about a new merge request shows: its branches, its commits, and how much it changes.
import { GitFailure, GitLimit } from '../../../../git/process/run.js'
import type { MergeRequestSnapshot } from '../../../ground/activity/merge-request-snapshots.js'
import { readCommits, readPatches } from '../../../planning/merge-requests/versions/changes.js'
import { versionOfHead } from '../../../planning/merge-requests/versions/versions.queries.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import type { More } from './records.js'

const MOST_COMMITS = 20
const MOST_FILES = 50
const LONGEST_LINE = 200

type Opened = Pick<
  MergeRequestSnapshot,
  'id' | 'head_sha' | 'source_branch' | 'target_branch' | 'source_project_id' | 'target_project_id'
>

export async function moreOfNew(project: ProjectRow, mergeRequest: Opened): Promise<More> {
  const { id, head_sha: head, source_branch: source, target_branch: target } = mergeRequest
  // The path of a fork may be a secret.
  const fork = mergeRequest.source_project_id === mergeRequest.target_project_id ? '' : ' of a fork'
  const lines = [`Branches: ${source}${fork} into ${target}`]
  const version = head === null ? undefined : await versionOfHead(id, head)
  if (!version) return { lines }
  try {
    const [list, changed] = [await readCommits(project, version), await readPatches(project, version)]
    const counts = changed.patches.map(countLines)
    const sum = (what: 'added' | 'removed') => counts.reduce((total, count) => total + count[what], 0)
    const more = (isCut: boolean) => (isCut ? 'more than ' : '')
    const { length: files } = changed.patches
    return {
      lines,
      parts: [
        {
          title: `${more(list.isCut)}${list.commits.length} ${list.commits.length === 1 ? 'commit' : 'commits'}`,
          lines: cut(
            list.commits.map(commit => `${commit.id.slice(0, 8)} - ${commit.message.split('\n', 1)[0] ?? ''}`),
            MOST_COMMITS
          )
        },
        {
          title: `${more(changed.isCut)}${files} changed ${files === 1 ? 'file' : 'files'}, +${sum('added')} -${sum('removed')}`,
          lines: cut(
            changed.patches.map(({ oldPath, newPath, isTooLarge }, at) => {
              const name = oldPath === newPath ? newPath : `${oldPath} => ${newPath}`
              return `${name} ${isTooLarge ? '(large)' : `+${counts[at]?.added} -${counts[at]?.removed}`}`
            }),
            MOST_FILES
          )
        }
      ]
    }
  } catch (error) {
    // The commits may be too many to compare, or no longer exist.
    if (error instanceof GitLimit || error instanceof GitFailure) return { lines }
    throw error
  }
}

function cut(lines: readonly string[], most: number): string[] {
  const shown = lines.slice(0, most).map(line => line.slice(0, LONGEST_LINE))
  return lines.length > most ? [...shown, `and ${lines.length - most} more`] : shown
}

function countLines({ text }: { readonly text: string }): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0]
  // The lines with the names come before the first hunk.
  const hunks = `\n${text}`.indexOf('\n@@')
  for (let at = hunks === -1 ? text.length : hunks; at < text.length; ) {
    if (text[at] === '+') added++
    if (text[at] === '-') removed++
    const end = text.indexOf('\n', at)
    at = end === -1 ? text.length : end + 1
  }
  return { added, removed }
}
