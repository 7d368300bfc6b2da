// Reads the commits of a push: the newest 20 with the paths that they change, for payloads, and the messages of more
// commits, for their references.
import {
  type ChangedPaths,
  changedPaths,
  commitsBetween,
  MOST_PATHS,
  readCommit
} from '../../../git/history/commits.js'
import { isCommitKnown } from '../../../git/objects/objects.js'
import { objectInfo } from '../../../git/objects/reader.js'
import { GitFailure } from '../../../git/process/run.js'
import { refValue, ZERO } from '../../../git/refs/refs.js'
import { beginning } from '../../../webhooks/body.js'
import type { PayloadPushCommit } from '../../../webhooks/payloads.js'
import { type PayloadPushedCommits, pushEvent } from '../../../webhooks/push-payloads.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import type { ChangeRow } from './ref-changes.queries.js'

/** Maximum number of commits in a payload. */
const LISTED = 20
/** Limits in characters for one commit. A payload of 20 stays well below the limits of a row and of receivers. */
const MESSAGE_LIMIT = 10_000
const PERSON_LIMIT = 255
const PATHS_LIMIT = 50_000
/** Not specified: the number of commits of one push whose messages are read, and the characters read of one and of all. */
const MOST_READ = 1000
const READ_OF_ONE = 10_000
const READ_OF_ALL = 1_000_000
const NO_PATHS: ChangedPaths = { added: [], modified: [], removed: [] }
const KINDS = ['added', 'modified', 'removed'] as const

export interface PushedRef {
  readonly change: ChangeRow
  readonly repository: string
  /** The id of the commit after the change; an annotated tag is resolved. Null for a deletion. */
  readonly tip: string | null
  /** The URL of the project's page. */
  readonly webUrl: string
}

/** Returns the commits of a push, oldest first, and their total number. For a tag it returns the tagged commit. */
export async function pushedCommits(push: PushedRef): Promise<PayloadPushedCommits> {
  const { change, repository, tip } = push
  // A tag may point to a file, and the commit may have been pruned.
  if (tip === null || !(await readCommit(repository, tip))) return { commits: [], totalCommitsCount: 0 }
  const range =
    pushEvent(change.ref) === 'tag_push'
      ? { ids: [tip], total: 1 }
      : await commitsBetween(repository, await baseOf(push), tip, LISTED)
  const found = await Promise.all([...range.ids].reverse().map(id => pushedCommit(push, id)))
  return { commits: found.filter(commit => commit !== null), totalCommitsCount: range.total }
}

export interface PushedMessage {
  /** The id of the commit. */
  readonly id: string
  readonly message: string
}

/**
 * Returns the messages of the newest commits of a push to a branch, oldest first. Empty for a first push: it may bring
 * a history with the issue numbers of another project.
 */
export async function pushedMessages(change: ChangeRow): Promise<readonly PushedMessage[]> {
  const { ref, new_id: tip } = change
  if (tip === ZERO || pushEvent(ref) === 'tag_push') return []
  const repository = repositoryPath({ id: change.project_id, storage: change.storage })
  const base = await baseOf({ change, repository })
  if (base === ZERO) return []
  // Most pushes have few commits, and payloads have already read these.
  const few = await commitsBetween(repository, base, tip, LISTED)
  const { ids } = few.total > LISTED ? await commitsBetween(repository, base, tip, MOST_READ) : few
  const commits = await Promise.all(ids.map(id => readCommit(repository, id)))
  return readableMessages(commits).reverse()
}

/** Returns the beginnings of messages whose references are read, in their order. */
export function readableMessages(commits: readonly (PushedMessage | null)[]): PushedMessage[] {
  const found: PushedMessage[] = []
  let room = READ_OF_ALL
  for (const commit of commits) {
    if (!commit || room <= 0) continue
    const message = beginning(commit.message, Math.min(READ_OF_ONE, room))
    room -= message.length
    found.push({ id: commit.id, message })
  }
  return found
}

/**
 * Not specified: the commits of a new branch. We chose those that the default branch does not contain. The default
 * branch itself, and a branch whose old value was pruned, list all commits.
 */
async function baseOf({ change, repository }: Pick<PushedRef, 'change' | 'repository'>): Promise<string> {
  if (change.old_id !== ZERO) return (await commitOf(repository, change.old_id)) ?? ZERO
  const main = `refs/heads/${change.default_branch ?? ''}`
  const value = change.ref === main ? null : await refValue(repository, main)
  return value === null ? ZERO : ((await commitOf(repository, value)) ?? ZERO)
}

const commitOf = async (repository: string, id: string) =>
  isCommitKnown(repository, id) ? id : (await objectInfo(repository, `${id}^{commit}`))?.id

async function pushedCommit({ repository, webUrl }: PushedRef, id: string): Promise<PayloadPushCommit | null> {
  const commit = await readCommit(repository, id)
  if (!commit) return null
  const paths = await pathsOf(repository, id)
  const listed = bounded(paths ?? NO_PATHS)
  const isCut = paths === null || KINDS.reduce((sum, kind) => sum + paths[kind].length, 0) >= MOST_PATHS
  const messageIsCut = commit.messageIsCut || commit.message.length > MESSAGE_LIMIT
  const cut = [
    ...(messageIsCut ? (['message'] as const) : []),
    ...KINDS.filter(kind => isCut || listed[kind].length < (paths?.[kind].length ?? 0))
  ]
  return {
    id,
    message: beginning(commit.message, MESSAGE_LIMIT),
    timestamp: commit.committedDate,
    url: `${webUrl}/commit/${id}`,
    author: { name: commit.authorName.slice(0, PERSON_LIMIT), email: commit.authorEmail.slice(0, PERSON_LIMIT) },
    ...listed,
    ...(cut.length > 0 && { cut })
  }
}

/** Returns null for a commit with so many paths that the output of git is too long. */
async function pathsOf(repository: string, id: string): Promise<ChangedPaths | null> {
  try {
    return (await changedPaths(repository, id)) ?? NO_PATHS
  } catch (error) {
    if (error instanceof GitFailure) return null
    throw error
  }
}

/** Keeps the first paths up to the limit: added paths first, then modified, then removed ones. */
function bounded(paths: ChangedPaths): ChangedPaths {
  let room = PATHS_LIMIT
  const first = (list: readonly string[]) =>
    list.filter(path => {
      room -= path.length
      return room >= 0
    })
  return { added: first(paths.added), modified: first(paths.modified), removed: first(paths.removed) }
}
