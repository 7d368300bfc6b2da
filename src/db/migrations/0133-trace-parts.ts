import type { Migration } from './migration.js'

export const traceParts: Migration = {
  name: '0133-trace-parts',
  up: [
    // Traces of running builds, for machines that share no folder. The place in the trace is part of the key.
    `create table if not exists trace_parts (
      build_id int unsigned not null,
      attempt int unsigned not null,
      begins_at int unsigned not null,
      content mediumblob not null,
      created_at datetime(3) not null,
      primary key (build_id, attempt, begins_at)
    )`
  ],
  down: ['drop table if exists trace_parts']
}
