import type { Migration } from './migration.js'

// The database sets it whenever a row changes, whatever program or statement changes it: lists keep rows of projects for as long as their
// version stays the same.
export const projectRowVersion: Migration = {
  name: '0195-project-row-version',
  up: [
    `alter table projects
       add column row_version datetime(6) not null default current_timestamp(6) on update current_timestamp(6)`
  ],
  down: ['alter table projects drop column row_version']
}
