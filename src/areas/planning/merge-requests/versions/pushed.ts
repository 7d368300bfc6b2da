// What a push brought to a merge request, for the automatic note and the mail about it.

import { nobody } from '../../../../access/actor.js'
import { commitsBetween } from '../../../../git/history/commits.js'
import { type Commit, readCommit } from '../../../../git/objects/objects.js'
import { findProject } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { MOST_COMMITS } from './changes.js'
import { versionOfHead } from './versions.queries.js'

interface PushedTo {
  readonly id: number
  readonly target_project_id: number
  readonly target_branch: string
  readonly head_sha: string | null
}

/** The lines name at most this number of commits. */
const MOST_NAMED = 50
const LONGEST_TITLE = 100

export interface PushedCommits {
  /** `added 2 commits`, or that the branch was reset. */
  readonly summary: string
  /** One for the commits of the target branch, and one for each other commit, oldest first: `1234abcd - Fix it`. */
  readonly lines: readonly string[]
}

/**
 * Returns the commits that a merge request has since a push and did not have before. After a rebase, those are all of its own.
 * Returns null when git no longer has one of the commits.
 */
export async function readPushed(mergeRequest: PushedTo, oldHead: string): Promise<PushedCommits | null> {
  const { id, head_sha: head, target_project_id: projectId, target_branch: branch } = mergeRequest
  const [project, version] = await Promise.all([
    findProject(projectId, nobody),
    head === null ? undefined : versionOfHead(id, head)
  ])
  const start = version?.start_sha ?? version?.base_sha
  if (!project || !head || !start) return null
  const repository = repositoryPath(project)
  const between = async (from: string, to: string) => commitsBetween(repository, from, to, MOST_COMMITS)
  if (!(await readCommit(repository, start)) || !(await readCommit(repository, oldHead))) return null
  const [own, before, all] = [await between(start, head), await between(start, oldHead), await between(oldHead, head)]
  const known = new Set(before.ids)
  const fresh = own.ids.filter(each => !known.has(each)).reverse()
  // Beyond the limit, the oldest commits are not listed.
  const count = fresh.length < MOST_COMMITS ? fresh.length : Math.min(own.total, all.total)
  const ofTarget = Math.max(all.total - count, 0)
  if (count + ofTarget === 0) return { summary: `reset the source branch to ${short(head)}`, lines: [] }
  const shown = await Promise.all(fresh.slice(0, MOST_NAMED).map(each => readCommit(repository, each)))
  return {
    summary: `added ${counted(count + ofTarget)}`,
    lines: [
      ...(ofTarget > 0 ? [`${counted(ofTarget)} from branch \`${branch}\``] : []),
      ...shown.flatMap(commit => (commit ? [lineOf(commit)] : [])),
      ...(count > shown.length ? [`and ${count - shown.length} more`] : [])
    ]
  }
}

const short = (id: string) => id.slice(0, 8)
const counted = (count: number) => (count === 1 ? '1 commit' : `${count} commits`)

const lineOf = ({ id, message }: Commit) =>
  `${short(id)} - ${(message.split('\n', 1)[0] ?? '').slice(0, LONGEST_TITLE)}`
