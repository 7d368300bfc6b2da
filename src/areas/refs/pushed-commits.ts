// The commits that a push brought, for those who list them: the newest 20 with the paths that they change.
import { type ChangedPaths, changedPaths, commitsBetween, readCommit } from '../../git/commits.js'
import { objectInfo } from '../../git/reader.js'
import { refValue, ZERO } from '../../git/refs.js'
import { GitFailure } from '../../git/run.js'
import type { PayloadPushCommit } from '../../webhooks/payloads.js'
import { type PayloadPushedCommits, pushEvent } from '../../webhooks/push-payloads.js'
import type { ChangeRow } from './ref-changes.queries.js'

/** As many as a payload lists. */
const LISTED = 20
/** Characters of one commit: with all 20 a payload stays well below what a row and a receiver take. */
const MESSAGE_LIMIT = 10_000
const PERSON_LIMIT = 255
const PATHS_LIMIT = 50_000
const NO_PATHS: ChangedPaths = { added: [], modified: [], removed: [] }

export interface PushedRef {
  readonly change: ChangeRow
  readonly repository: string
  /** What the ref points at now, behind an annotated tag; null for a deletion. */
  readonly tip: string | null
  /** The address of the project for people. */
  readonly webUrl: string
}

/** What a push brought. Of a tag it is the commit that it names. */
export async function pushedCommits(push: PushedRef): Promise<PayloadPushedCommits> {
  const { change, repository, tip } = push
  // A tag may name a file, and a commit may be gone by now.
  if (tip === null || !(await readCommit(repository, tip))) return { commits: [], totalCommitsCount: 0 }
  const range =
    pushEvent(change.ref) === 'tag_push'
      ? { ids: [tip], total: 1 }
      : await commitsBetween(repository, await baseOf(push), tip, LISTED)
  const found = await Promise.all([...range.ids].reverse().map(id => pushedCommit(push, id)))
  return { commits: found.filter(commit => commit !== null), totalCommitsCount: range.total }
}

/**
 * Not specified: what a new branch brings. Here it is what the default branch has not, and of the default branch itself,
 * or of a branch whose old value is gone, all.
 */
async function baseOf({ change, repository }: PushedRef): Promise<string> {
  if (change.old_id !== ZERO) return (await commitOf(repository, change.old_id)) ?? ZERO
  const main = `refs/heads/${change.default_branch ?? ''}`
  const value = change.ref === main ? null : await refValue(repository, main)
  return value === null ? ZERO : ((await commitOf(repository, value)) ?? ZERO)
}

const commitOf = async (repository: string, id: string) => (await objectInfo(repository, `${id}^{commit}`))?.id

async function pushedCommit({ repository, webUrl }: PushedRef, id: string): Promise<PayloadPushCommit | null> {
  const commit = await readCommit(repository, id)
  if (!commit) return null
  return {
    id,
    message: commit.message.slice(0, MESSAGE_LIMIT),
    timestamp: commit.committedDate,
    url: `${webUrl}/commit/${id}`,
    author: { name: commit.authorName.slice(0, PERSON_LIMIT), email: commit.authorEmail.slice(0, PERSON_LIMIT) },
    ...bounded(await pathsOf(repository, id))
  }
}

/** A commit of so many paths that git's answer is too long is told of without them. */
async function pathsOf(repository: string, id: string): Promise<ChangedPaths> {
  try {
    return (await changedPaths(repository, id)) ?? NO_PATHS
  } catch (error) {
    if (error instanceof GitFailure) return NO_PATHS
    throw error
  }
}

/** The first paths of each kind, as far as there is room. */
function bounded(paths: ChangedPaths): ChangedPaths {
  let room = PATHS_LIMIT
  const first = (list: readonly string[]) =>
    list.filter(path => {
      room -= path.length
      return room >= 0
    })
  return { added: first(paths.added), modified: first(paths.modified), removed: first(paths.removed) }
}
