// The activity feed shows what users did to projects, newest first. Each event in the feed has one row.

import { together } from '../../../db/connect/batching.js'
import { execute, marks, padded, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import type { PublishedEvent } from '../../ground/activity/events.js'
import type { FeedEntry } from '../../ground/activity/feed-entry.js'
import { type ByKind, type Listener, listenerBy } from '../../ground/activity/listeners.js'
import { activeSince, noteActivity } from '../../projects/projects/project-columns.js'

const TITLE_LIMIT = 255

/** Returns the listener that writes the feed. `entries` maps each kind of event to its entry. */
export const activityFeed = (entries: ByKind<FeedEntry>): Listener =>
  listenerBy('activity', entries, async (entry, published) => {
    const { projectId, authorId } = entry
    const activeAt = authorId === null ? undefined : await write(projectId, { published, entry, authorId })
    await noteActivity(projectId, new Date(published.at), activeAt ?? (await lastActivity(projectId)))
  })

const lastActivity = async (projectId: number): Promise<Date | undefined> =>
  (await row<{ at: Date }>('select last_activity_at as at from projects where id = ?', [projectId]))?.at

interface Written {
  readonly published: PublishedEvent
  readonly entry: FeedEntry
  readonly authorId: number
}

/**
 * Writes entries of one project. The unique key on the event makes a second call harmless. Returns the previous activity time of
 * the project for each entry; undefined when that was not read, or when the project or user no longer exists.
 */
const write = together<number, Written, Date | undefined>((all, projectId) => {
  const [only] = all
  return only && all.length === 1 ? writeOne(only) : writeSome(all, projectId)
})

/** Writes a single entry with one statement, which needs no separate transaction. It is enough while the project is active. */
async function writeOne(written: Written): Promise<readonly (Date | undefined)[]> {
  const now = new Date(written.published.at)
  if (await insertOne(written, activeSince(now))) return [now]
  await insertOne(written)
  return [undefined]
}

/**
 * Writes entries of one project in the current transaction. Returns the ids of the events; none when a job must write them, because
 * the last activity of the project is so long ago that its row changes, too.
 */
export async function recordAtOnce(
  all: readonly { readonly published: PublishedEvent; readonly entry: FeedEntry | null }[]
): Promise<readonly string[]> {
  const some = all.flatMap(({ published, entry }) =>
    entry && entry.authorId !== null ? [{ published, entry, authorId: entry.authorId }] : []
  )
  const [first] = some
  if (!first || some.length < all.length) return []
  const ids = some.map(({ published }) => published.id)
  const since = activeSince(new Date(first.published.at))
  if (some.length === 1) return (await insertOne(first, since)) ? ids : []
  const activeAt = await hold(some, first.entry.projectId)
  const before = some.map(({ authorId }) => activeAt.get(authorId))
  if (before.some(at => at === undefined || at < since)) return []
  await insert(some)
  return ids
}

/**
 * Inserts an entry, with `since` only when the project was active since then. Returns false when nothing was
 * inserted: the project was not active, it or the user is gone, or the entry exists.
 */
async function insertOne(written: Written, since?: Date): Promise<boolean> {
  const [id, projectId, authorId, ...others] = valuesOf(written)
  const { affectedRows } = await execute(
    `insert ignore into activity_events (${COLUMNS}) select ?, p.id, u.id, ${others.map(() => '?').join(', ')}
     from projects p straight_join users u on u.id = ? where p.id = ? ${since ? 'and p.last_activity_at >= ?' : ''}
     lock in share mode`,
    [id, ...others, authorId, projectId, ...(since ? [since] : [])]
  )
  return affectedRows === 1
}

const writeSome = (all: readonly Written[], projectId: number): Promise<readonly (Date | undefined)[]> =>
  transact(async () => {
    const activeAt = await hold(all, projectId)
    const some = all.filter(({ authorId }) => activeAt.has(authorId))
    if (some.length > 0) await insert(some)
    return all.map(({ authorId }) => activeAt.get(authorId))
  })

/**
 * Returns the last activity of the project for each author who still exists. The lock lasts until the rows exist. So a removal of
 * the project or user finds the rows, or they are not written.
 */
async function hold(all: readonly Written[], projectId: number): Promise<ReadonlyMap<number, Date>> {
  const users = padded([...new Set(all.map(({ authorId }) => authorId))])
  const held = await rows<{ id: number; at: Date }>(
    `select u.id, p.last_activity_at as at from projects p straight_join users u on u.id in (${marks(users)})
     where p.id = ? lock in share mode`,
    [...users, projectId]
  )
  return new Map(held.map(({ id, at }) => [id, at]))
}

const COLUMNS =
  'happening_id, project_id, author_id, action, target_type, target_id, target_title, data, note_id, created_at'

const insert = (all: readonly Written[]) =>
  execute(
    `insert ignore into activity_events (${COLUMNS}) values ${all.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    all.flatMap(valuesOf)
  )

const valuesOf = ({ published, entry, authorId }: Written): [string, number, number, ...Value[]] => [
  published.id,
  entry.projectId,
  authorId,
  entry.action,
  entry.target?.type ?? null,
  entry.target?.id ?? null,
  entry.target?.title?.slice(0, TITLE_LIMIT) ?? null,
  entry.data ? JSON.stringify(entry.data) : null,
  entry.noteId ?? null,
  new Date(published.at)
]
