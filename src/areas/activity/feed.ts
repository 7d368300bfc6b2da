// The activity feed shows what users did to projects, newest first. Each happening in the feed has one row.
import { execute, marks, padded, row, rows, type Value } from '../../db/sql.js'
import { together } from '../../db/together.js'
import { retried, transact } from '../../db/transact.js'
import type { Told } from './happenings.js'
import { type ByKind, type Listener, listenerBy } from './listeners.js'

/** The value of `action_name` in the API. */
export type FeedAction =
  | 'created'
  | 'pushed new'
  | 'pushed to'
  | 'deleted'
  | 'commented on'
  | 'opened'
  | 'closed'
  | 'accepted'
  | 'destroyed'
  | 'joined'
  | 'left'
  | 'removed due to membership expiration from'

/** The entry of the feed for a happening. */
export interface FeedEntry {
  readonly projectId: number
  /** Null when no user did it. Then the project counts as active, but gets no entry: entries need an author. */
  readonly authorId: number | null
  readonly action: FeedAction
  /** The object of the action, such as an issue or a note. `id` is its id, not its number within the project. */
  readonly target?: { readonly type: string; readonly id: number; readonly title: string | null }
  /** The id of the note, if the target is a note. */
  readonly noteId?: number
  /** The payload of a push. */
  readonly data?: object
}

/** Milliseconds. The row of the project records activity at most once an hour. */
const ACTIVE_FOR = 3_600_000
const TITLE_LIMIT = 255

/** Returns the listener that writes the feed. `entries` maps each kind of happening to its entry. */
export const activityFeed = (entries: ByKind<FeedEntry>): Listener =>
  listenerBy('activity', entries, async (entry, told) => {
    const { projectId, authorId } = entry
    const activeAt = authorId === null ? undefined : await write(projectId, { told, entry, authorId })
    await noteActivity(projectId, new Date(told.at), activeAt ?? (await lastActivity(projectId)))
  })

const lastActivity = async (projectId: number): Promise<Date | undefined> =>
  (await row<{ at: Date }>('select last_activity_at as at from projects where id = ?', [projectId]))?.at

/** An update that changes nothing would wait for all who write in the project, and they for it. */
async function noteActivity(projectId: number, at: Date, before: Date | undefined): Promise<void> {
  const due = new Date(at.getTime() - ACTIVE_FOR)
  if (before === undefined || before >= due) return
  await execute('update projects set last_activity_at = ? where id = ? and last_activity_at < ?', [at, projectId, due])
}

interface Written {
  readonly told: Told
  readonly entry: FeedEntry
  readonly authorId: number
}

/**
 * Writes entries of one project. The unique key on the happening makes a second call harmless. Returns for each when the project was
 * active before; undefined when that was not read, or when it or the user is gone.
 */
const write = together<number, Written, Date | undefined>((all, projectId) => {
  const [only] = all
  return only && all.length === 1 ? writeOne(only) : writeSome(all, projectId)
})

/** One statement does it for one: it is its own transaction. */
async function writeOne(written: Written): Promise<readonly undefined[]> {
  const [id, projectId, authorId, ...others] = valuesOf(written)
  await retried(() =>
    execute(
      `insert ignore into activity_events (${COLUMNS}) select ?, p.id, u.id, ${others.map(() => '?').join(', ')}
       from projects p straight_join users u on u.id = ? where p.id = ? lock in share mode`,
      [id, ...others, authorId, projectId]
    )
  )
  return [undefined]
}

const writeSome = (all: readonly Written[], projectId: number): Promise<readonly (Date | undefined)[]> =>
  transact(async () => {
    // The lock lasts until the rows exist. So a removal of the project or user finds them, or they are not written.
    const users = padded([...new Set(all.map(({ authorId }) => authorId))])
    const held = await rows<{ id: number; at: Date }>(
      `select u.id, p.last_activity_at as at from projects p straight_join users u on u.id in (${marks(users)})
       where p.id = ? lock in share mode`,
      [...users, projectId]
    )
    const activeAt = new Map(held.map(({ id, at }) => [id, at]))
    const some = all.filter(({ authorId }) => activeAt.has(authorId))
    if (some.length > 0) await insert(some)
    return all.map(({ authorId }) => activeAt.get(authorId))
  })

const COLUMNS =
  'happening_id, project_id, author_id, action, target_type, target_id, target_title, data, note_id, created_at'

const insert = (all: readonly Written[]) =>
  execute(
    `insert ignore into activity_events (${COLUMNS}) values ${all.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    all.flatMap(valuesOf)
  )

const valuesOf = ({ told, entry, authorId }: Written): [string, number, number, ...Value[]] => [
  told.id,
  entry.projectId,
  authorId,
  entry.action,
  entry.target?.type ?? null,
  entry.target?.id ?? null,
  entry.target?.title?.slice(0, TITLE_LIMIT) ?? null,
  entry.data ? JSON.stringify(entry.data) : null,
  entry.noteId ?? null,
  new Date(told.at)
]
