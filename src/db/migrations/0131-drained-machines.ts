import type { Migration } from './migration.js'

export const drainedMachines: Migration = {
  name: '0131-drained-machines',
  up: [
    `alter table machines
      -- The URL at which other machines reach the server of this one.
      add column address varchar(255) null,
      add column processors int unsigned null,
      add column memory bigint unsigned null,
      add column load_average double null,
      -- Milliseconds by which its clock is ahead of that of the database.
      add column clock_offset int null,
      add column drained_at datetime(3) null,
      -- Renewed by its servers and workers; lease_until is renewed by each of its processes.
      add column server_until datetime(3) null,
      add column worker_until datetime(3) null`
  ],
  down: [
    `alter table machines drop column address, drop column processors, drop column memory, drop column load_average,
      drop column clock_offset, drop column drained_at, drop column server_until, drop column worker_until`
  ]
}
