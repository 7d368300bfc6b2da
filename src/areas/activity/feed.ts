// The activity feed: what users did to projects, newest first. One row for each happening that the feed shows.
import { execute, row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { type ByKind, type Listener, makeOf, type Told } from './happenings.js'

/** What the API calls `action_name`. */
export type FeedAction = 'created' | 'pushed new' | 'pushed to' | 'deleted'

/** What happened, as the feed shows it. */
export interface FeedEntry {
  readonly projectId: number
  /** Null when no user did it: then the project was active, and the feed, which names an author, shows nothing. */
  readonly authorId: number | null
  readonly action: FeedAction
  /** The issue, the note or the like that was acted on; its number is its id, not the one within the project. */
  readonly target?: { readonly type: string; readonly id: number; readonly title: string | null }
  /** The note, when the target is one. */
  readonly noteId?: number
  /** The payload of a push. */
  readonly data?: object
}

/** Activity is written down in the project once an hour at the most. */
const ACTIVE_FOR = 3_600_000
const TITLE_LIMIT = 255

/** `entries` say what the feed shows of each kind. */
export const activityFeed = (entries: ByKind<FeedEntry>): Listener => ({
  name: 'activity',
  hear: async told => {
    const entry = await makeOf(entries, told)
    if (!entry) return
    await noteActivity(entry.projectId, new Date(told.at))
    if (entry.authorId !== null) await write(told, entry, entry.authorId)
  }
})

async function noteActivity(projectId: number, at: Date): Promise<void> {
  await execute('update projects set last_activity_at = ? where id = ? and last_activity_at < ?', [
    at,
    projectId,
    new Date(at.getTime() - ACTIVE_FOR)
  ])
}

/** The unique key on the happening makes a second time harmless. */
async function write(told: Told, entry: FeedEntry, authorId: number): Promise<void> {
  await transact(async () => {
    // Held until the row is there: who removes the project or the user takes it along, or it is not written.
    const known = await row('select p.id from projects p join users u on u.id = ? where p.id = ? lock in share mode', [
      authorId,
      entry.projectId
    ])
    if (!known) return
    await execute(
      `insert ignore into activity_events (happening_id, project_id, author_id, action, target_type, target_id,
         target_title, data, note_id, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
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
    )
  })
}
