// Makes the payloads for a ref that moved: push for branches, tag_push for tags.
import {
  commit,
  fullProject,
  type PayloadProject,
  type PayloadPushCommit,
  type PayloadUser,
  repository
} from './payloads.js'

const COMMIT_LIMIT = 20
const TEXT_BEGINNING = 200

export interface PayloadPush {
  /** The full name, such as `refs/heads/master`. */
  readonly ref: string
  /** 40 zeros when the ref is new. */
  readonly before: string
  /** 40 zeros when the ref is deleted. */
  readonly after: string
  /** The commit that the ref points to, also when it is an annotated tag. */
  readonly checkoutSha: string | null
  /** The text of an annotated tag; null for other refs. */
  readonly message: string | null
  /** Whether `message` is only the beginning of the text. */
  readonly messageIsCut?: boolean
  readonly user: PayloadUser
  readonly project: PayloadProject
}

/** The commits of a push for project hooks, oldest first: at least the last 20; and the number of all commits. */
export interface PayloadPushedCommits {
  readonly commits: readonly PayloadPushCommit[]
  readonly totalCommitsCount: number
}

/** The payload for project hooks, with the last commits. A deletion has no commits. */
export function pushPayload(push: PayloadPush, { commits, totalCommitsCount }: PayloadPushedCommits) {
  if (isDeletion(push)) return systemPushPayload(push)
  const listed = commits.slice(-COMMIT_LIMIT)
  return {
    ...head(push),
    ...tail(push, listed.map(pushedCommit), totalCommitsCount),
    ...shortened(push, listed)
  }
}

/**
 * The payload for system hooks. It has no commits, so that a push does not have to read the history for them.
 * Not specified: created_at and updated_at, which other system events have. A push is not a record, so it has neither.
 */
export function systemPushPayload(push: PayloadPush) {
  return { ...head(push), ...tail(push, [], 0), ...shortened(push, []) }
}

/** Lists the incomplete fields, like the body of a delivery that was too large (body.ts). */
function shortened(push: PayloadPush, commits: readonly PayloadPushCommit[]): { shortened?: string[] } {
  const ofCommits = commits.flatMap(({ cut = [] }, at) => cut.map(field => `commits.${at}.${field}`))
  const all = [...ofCommits, ...(push.messageIsCut ? ['message'] : [])]
  return all.length > 0 ? { shortened: all } : {}
}

export type PushPayload = ReturnType<typeof pushPayload>

/**
 * Returns a push payload of at most `limit` characters of JSON, for a record that is kept. A longer one loses the paths of
 * its commits, then all but the beginnings of its texts, then its commits.
 */
export function shortPushPayload(payload: PushPayload, limit: number): PushPayload {
  const fits = (shorter: PushPayload) => JSON.stringify(shorter).length <= limit
  if (fits(payload)) return payload
  const commits = payload.commits.map(entry => ({ ...entry, added: [], modified: [], removed: [] }))
  const withoutPaths = { ...payload, commits }
  if (fits(withoutPaths)) return withoutPaths
  const beginning = (text: string) => text.slice(0, TEXT_BEGINNING)
  const withoutTexts = {
    ...payload,
    message: payload.message === null ? null : beginning(payload.message),
    commits: commits.map(entry => ({ ...entry, message: beginning(entry.message) }))
  }
  return fits(withoutTexts) ? withoutTexts : { ...withoutTexts, commits: [] }
}

/** The event of a ref that moved: both the object_kind and the event_name. */
export function pushEvent(ref: string): 'push' | 'tag_push' {
  return ref.startsWith('refs/tags/') ? 'tag_push' : 'push'
}

function head(push: PayloadPush) {
  return {
    object_kind: pushEvent(push.ref),
    event_name: pushEvent(push.ref),
    before: push.before,
    after: push.after,
    ref: push.ref,
    checkout_sha: isDeletion(push) ? null : push.checkoutSha,
    message: push.message,
    user_id: push.user.id,
    user_name: push.user.name,
    user_email: push.user.email,
    user_avatar: push.user.avatarUrl,
    project_id: push.project.id,
    project: fullProject(push.project)
  }
}

function tail(push: PayloadPush, commits: ReturnType<typeof pushedCommit>[], total: number) {
  return { commits, total_commits_count: total, repository: repository(push.project) }
}

function pushedCommit(entry: PayloadPushCommit) {
  return { ...commit(entry), added: entry.added, modified: entry.modified, removed: entry.removed }
}

function isDeletion(push: PayloadPush): boolean {
  return /^0+$/.test(push.after)
}
