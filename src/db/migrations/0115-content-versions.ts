import type { Migration } from './migration.js'

// Counts the changes of what records of planning show: see db/connect/content.ts.
export const contentVersions: Migration = {
  name: '0115-content-versions',
  up: [
    `create table if not exists content_versions (
      project_id int unsigned not null primary key,
      version int unsigned not null
    )`
  ],
  down: ['drop table if exists content_versions']
}
