import type { Migration } from './migration.js'

const TABLES = ['builds', 'pipelines', 'runners', 'users']

// As for projects: lists of builds keep the records of builds for as long as the versions of these rows stay the same.
export const buildRowVersions: Migration = {
  name: '0196-build-row-versions',
  up: TABLES.map(
    table => `alter table ${table}
      add column row_version datetime(6) not null default current_timestamp(6) on update current_timestamp(6)`
  ),
  down: TABLES.map(table => `alter table ${table} drop column row_version`)
}
