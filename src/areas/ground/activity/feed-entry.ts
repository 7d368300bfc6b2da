// The types of the entries of the activity feed. Areas map their events to entries; reach/events/activity-feed.ts writes them.

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

/** The entry of the feed for an event. */
export interface FeedEntry {
  readonly projectId: number
  /** Null when no user did it. The project still counts as active, but gets no entry, because entries need an author. */
  readonly authorId: number | null
  readonly action: FeedAction
  /** The object of the action, such as an issue or a note. `id` is its id, not its number within the project. */
  readonly target?: { readonly type: string; readonly id: number; readonly title: string | null }
  /** The id of the note, if the target is a note. */
  readonly noteId?: number
  /** The payload of a push. */
  readonly data?: object
}
