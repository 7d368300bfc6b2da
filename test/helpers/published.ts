// Published events that no listener has handled yet, and similar jobs for tests of the queue.
import type { EventKind, Published, PublishedEvent } from '../../src/areas/ground/activity/events.js'
import { rows } from '../../src/db/connect/sql.js'

/** The payload of a job that listeners ignore while there are no hooks; `id` tells it from others. */
export const eventJob = (id: string) => ({
  id,
  at: '2026-01-02T03:04:05.678Z',
  event: { kind: 'user.created', user: {} }
})

/** The events of a kind that no listener has handled yet, oldest first. */
export async function waitingEvents<Kind extends EventKind>(kind: Kind): Promise<Published<Kind>['event'][]> {
  const jobs = await rows<{ payload: string }>("select payload from jobs where name = 'event.published' order by id")
  return jobs
    .map(({ payload }) => JSON.parse(payload) as PublishedEvent)
    .filter((told): told is Published<Kind> => told.event.kind === kind)
    .map(({ event }) => event)
}
