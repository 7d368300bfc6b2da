import { execute, marks, rows } from '../../../db/connect/sql.js'
import type { Task } from '../../../queue/task.js'
import { archiveOld, type Candidate, PAGE, type Source } from '../../ground/records/archive-old.js'
import { lineOf } from '../../ground/records/record-line.js'

export const oldEvents: Task = {
  name: 'old_events',
  schedule: '17 2 * * *',
  about: 'moves the activity of projects and users that is older than `archive.events` days into compressed files',
  run: context => archiveOld(eventSource, context)
}

const eventSource: Source<readonly object[]> = {
  kind: 'events',
  atOnce: 1000,
  page: after =>
    rows<Candidate>(
      `select id, project_id, author_id, created_at, 1 as leaves from activity_events where id > ? order by id limit ${PAGE}`,
      [after]
    ),
  read: (ids, lock) =>
    rows<object>(`select * from activity_events where id in (${marks(ids)}) order by id ${lock}`, ids),
  *lines(events) {
    for (const event of events) yield lineOf('activity_events', event)
  },
  remove: async ids => {
    await execute(`delete from activity_events where id in (${marks(ids)})`, ids)
  }
}
