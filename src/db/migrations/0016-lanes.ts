import type { Migration } from './migration.js'

export const lanes: Migration = {
  name: '0016-lanes',
  up: [
    // A claim finds the first jobs of a lane with one index step, however many jobs of other lanes wait before them.
    `alter table jobs
      add column lane int unsigned not null default 0,
      add key jobs_lane (queue, state, lane, priority, run_at, id),
      drop key jobs_claim`,
    // Earlier versions cut payloads over 16 MB, and deliveries of removed hooks waited for a job that may no longer exist.
    `update hook_deliveries d left join hooks h on h.id = d.hook_id
     set d.state = 'canceled', d.finished_at = utc_timestamp(3)
     where d.state = 'pending' and (h.id is null or not json_valid(d.payload))`
  ],
  down: [
    `alter table jobs
      add key jobs_claim (queue, state, priority, run_at, id),
      drop key jobs_lane,
      drop column lane`
  ]
}
