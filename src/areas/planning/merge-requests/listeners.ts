// Hook events and feed entries of merge requests.
import { row } from '../../../db/connect/sql.js'
import { NotFound } from '../../../errors.js'
import { type Commit, readCommit } from '../../../git/objects/objects.js'
import { beginning } from '../../../webhooks/body.js'
import {
  mergeRequestPayload,
  type PayloadMergeRequest,
  type PayloadTargetProject
} from '../../../webhooks/merge-request-payloads.js'
import type { PayloadUser } from '../../../webhooks/payloads.js'
import type { Published } from '../../ground/activity/events.js'
import type { FeedAction, FeedEntry } from '../../ground/activity/feed-entry.js'
import type { MergeRequestSnapshot } from '../../ground/activity/merge-request-snapshots.js'
import type { HookEvent } from '../../ground/hooks/hook-events.js'
import { projectUrls } from '../../projects/projects/project-urls.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { isWorkInProgress } from './titles.js'

type PublishedEvent = Published<'merge_request.changed'>

const ACTIONS: { readonly [Action in PublishedEvent['event']['action']]: FeedAction | null } = {
  open: 'opened',
  update: null,
  close: 'closed',
  reopen: 'opened',
  merge: 'accepted'
}

/** Returns the feed entry for an event of a merge request; null for events that the feed does not show. */
export function feedEntryOfMergeRequest({ event }: PublishedEvent): FeedEntry | null {
  const { mergeRequest, by: authorId } = event
  const action = ACTIONS[event.action]
  if (!action) return null
  const target = { type: 'MergeRequest', id: mergeRequest.id, title: mergeRequest.title }
  return { projectId: mergeRequest.target_project_id, authorId, action, target }
}

/** Returns the hook event for an event of a merge request. Not specified: that it waits for its build. Hooks get no event then. */
export function hookEventOfMergeRequest({ event }: PublishedEvent): HookEvent | null {
  const { action, by, oldrev, changes } = event
  if (changes?.automatic_merge !== undefined && oldrev === undefined) return null
  const found = asRow(event.mergeRequest)
  const payload = async () => mergeRequestPayload({ ...(await readPayload(found, by)), action, oldrev })
  return { project: { id: found.target_project_id, event: 'merge_request', payload } }
}

const asRow = ({ created_at, updated_at, ...rest }: PublishedEvent['event']['mergeRequest']): MergeRequestSnapshot => ({
  ...rest,
  created_at: new Date(created_at),
  updated_at: new Date(updated_at)
})

/** Returns the fields of a merge request in payloads, also of notes about it. `by` is the user who caused the event. Throws NotFound. */
export async function readPayload(
  found: MergeRequestSnapshot,
  by: number | null
): Promise<Omit<PayloadMergeRequest, 'action' | 'oldrev'>> {
  const [source, target, user, assignee, texts] = await Promise.all([
    findPayloadProject(found.source_project_id),
    findPayloadProject(found.target_project_id),
    findPayloadUser(by),
    findPayloadUser(found.assignee_id),
    row<Texts>('select description, merge_message from merge_requests where id = ?', [found.id])
  ])
  if (!target) throw new NotFound('Project')
  const commit = found.head_sha === null ? null : await readCommit(repositoryPath(target.stored), found.head_sha)
  return {
    user,
    project: target,
    source,
    assignee,
    lastCommit: commit && commitOf(commit, target.webUrl),
    attributes: {
      ...found,
      description: texts?.description ?? null,
      merge_message: texts?.merge_message ?? null,
      work_in_progress: isWorkInProgress(found.title)
    },
    url: `${target.webUrl}/merge_requests/${found.iid}`
  }
}

interface Texts {
  readonly description: string | null
  readonly merge_message: string | null
}

const MESSAGE_LIMIT = 10_000

const commitOf = (commit: Commit, webUrl: string) => ({
  id: commit.id,
  message: beginning(commit.message, MESSAGE_LIMIT),
  timestamp: commit.committedDate,
  url: `${webUrl}/commit/${commit.id}`,
  author: { name: commit.authorName, email: commit.authorEmail }
})

interface ProjectColumns {
  readonly id: number
  readonly storage: string
  readonly name: string
  readonly path: string
  readonly description: string | null
  readonly visibility_level: number
  readonly default_branch: string | null
  readonly namespace_name: string
  readonly namespace_path: string
}

async function findPayloadProject(id: number): Promise<PayloadTargetProject | null> {
  const found = await row<ProjectColumns>(
    `select p.id, p.storage, p.name, p.path, p.description, p.visibility_level, p.default_branch,
       n.name as namespace_name, n.path as namespace_path
     from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
    [id]
  )
  if (!found) return null
  const path = `${found.namespace_path}/${found.path}`
  const { web, http, ssh } = projectUrls(path)
  return {
    stored: { id, storage: found.storage },
    id,
    name: found.name,
    pathWithNamespace: path,
    namespace: found.namespace_name,
    description: found.description,
    webUrl: web,
    avatarUrl: null,
    gitSshUrl: ssh,
    gitHttpUrl: http,
    visibilityLevel: found.visibility_level,
    defaultBranch: found.default_branch
  }
}

async function findPayloadUser(id: number | null): Promise<PayloadUser | null> {
  if (id === null) return null
  const found = await row<{ id: number; name: string; username: string; email: string }>(
    'select id, name, username, email from users where id = ?',
    [id]
  )
  return found ? { ...found, avatarUrl: null } : null
}
