// Creates hook events and feed entries for ref changes.
import { isCommitKnown, readTag } from '../../../git/objects/objects.js'
import { objectInfo } from '../../../git/objects/reader.js'
import { ZERO } from '../../../git/refs/refs.js'
import type { PayloadProject, PayloadUser } from '../../../webhooks/payloads.js'
import {
  type PayloadPush,
  pushEvent,
  pushPayload,
  shortPushPayload,
  systemPushPayload
} from '../../../webhooks/push-payloads.js'
import type { Published } from '../../ground/activity/events.js'
import type { FeedEntry } from '../../ground/activity/feed-entry.js'
import type { HookEvent } from '../../ground/hooks/hook-events.js'
import { projectUrls } from '../../projects/projects/project-urls.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { pushedCommits } from './pushed-commits.js'
import { type ChangeRow, findSettledChange, type ShownProject } from './ref-changes.queries.js'

/** Maximum number of characters of a push in the feed. */
const FEED_LIMIT = 65_536

/** Returns the hook event of a ref change; null when its project no longer exists. */
export async function hookEventOfPush({ event }: Published<'ref.changed'>): Promise<HookEvent | null> {
  const change = await findSettledChange(event.refChangeId)
  if (!change) return null
  const name = pushEvent(change.ref)
  // "What emits what": system hooks receive no event for the deletion of a tag.
  const isForSystem = change.new_id !== ZERO || name === 'push'
  return {
    ...(isForSystem && { system: { event: name, payload: async () => systemPushPayload(await readPush(change)) } }),
    project: { id: change.project_id, event: name, payload: () => fullPayload(change) }
  }
}

/** Returns the feed entry of a ref change; null when its project no longer exists. */
export async function feedEntryOfPush({ event }: Published<'ref.changed'>): Promise<FeedEntry | null> {
  const change = await findSettledChange(event.refChangeId)
  return change ? feedEntryOf(change) : null
}

/** Returns the feed entry of a change. */
export async function feedEntryOf(change: ChangeRow): Promise<FeedEntry> {
  const entry = { projectId: change.project_id, authorId: change.user_id, action: actionOf(change) } as const
  if (change.user_id === null) return entry
  return { ...entry, data: shortPushPayload(await fullPayload(change), FEED_LIMIT) }
}

function actionOf({ old_id, new_id }: ChangeRow) {
  if (new_id === ZERO) return 'deleted'
  return old_id === ZERO ? 'pushed new' : 'pushed to'
}

/** Returns the full payload of a push: the listed commits with their paths. */
export async function fullPayload(change: ChangeRow) {
  const push = await readPush(change)
  const { webUrl } = push.project
  const tip = push.checkoutSha
  return pushPayload(push, await pushedCommits({ change, repository: repositoryOf(change), tip, webUrl }))
}

const repositoryOf = ({ project_id: id, storage }: ChangeRow) => repositoryPath({ id, storage })

async function readPush(change: ChangeRow): Promise<PayloadPush> {
  const { commit, message, messageIsCut } = await pointsAt(change)
  return {
    ref: change.ref,
    before: change.old_id,
    after: change.new_id,
    checkoutSha: commit,
    message,
    messageIsCut,
    user: payloadUser(change),
    project: payloadProject(change)
  }
}

/** Returns the commit that the new value points to, and the message of an annotated tag. */
async function pointsAt(change: ChangeRow) {
  const { new_id } = change
  const repository = repositoryOf(change)
  if (new_id === ZERO) return { commit: null, message: null, messageIsCut: false }
  // Most pushes bring a commit that was just written or read: asking for its type would read it once more.
  if (isCommitKnown(repository, new_id)) return { commit: new_id, message: null, messageIsCut: false }
  const found = await objectInfo(repository, new_id)
  if (found?.type !== 'tag') return { commit: new_id, message: null, messageIsCut: false }
  const [tag, commit] = await Promise.all([readTag(repository, new_id), objectInfo(repository, `${new_id}^{commit}`)])
  return {
    commit: commit?.id ?? null,
    message: tag?.message ?? null,
    messageIsCut: tag?.messageIsCut ?? false
  }
}

const payloadUser = (change: ChangeRow): PayloadUser => ({
  id: change.user_id ?? 0,
  name: change.user_name ?? '',
  username: change.user_username ?? '',
  email: change.user_email ?? '',
  avatarUrl: null
})

export function payloadProject(project: ShownProject): PayloadProject {
  const path = `${project.namespace_path}/${project.project_path}`
  const { web, http, ssh } = projectUrls(path)
  return {
    id: project.project_id,
    name: project.project_name,
    pathWithNamespace: path,
    namespace: project.namespace_name,
    description: project.description,
    webUrl: web,
    avatarUrl: null,
    gitSshUrl: ssh,
    gitHttpUrl: http,
    visibilityLevel: project.visibility_level,
    defaultBranch: project.default_branch
  }
}
