// Happenings that wait to be heard, and jobs like theirs for tests of the queue.
import type { HappeningKind, Told, ToldOf } from '../../src/areas/activity/happenings.js'
import { rows } from '../../src/db/sql.js'

/** The payload of a job that listeners pass over while nobody has a hook; `id` tells it from others. */
export const toldJob = (id: string) => ({
  id,
  at: '2026-01-02T03:04:05.678Z',
  happening: { kind: 'user.created', user: {} }
})

/** The happenings of a kind that nobody has heard of yet, oldest first. */
export async function waitingHappenings<Kind extends HappeningKind>(kind: Kind): Promise<ToldOf<Kind>['happening'][]> {
  const jobs = await rows<{ payload: string }>("select payload from jobs where name = 'happening.told' order by id")
  return jobs
    .map(({ payload }) => JSON.parse(payload) as Told)
    .filter((told): told is ToldOf<Kind> => told.happening.kind === kind)
    .map(({ happening }) => happening)
}
