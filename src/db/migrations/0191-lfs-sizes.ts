import type { Migration } from './migration.js'

export const lfsSizes: Migration = {
  name: '0191-lfs-sizes',
  up: [
    // How many bytes the objects of a project have that count for its limit. Without a row, they are summed up.
    `create table if not exists lfs_sizes (
      project_id int unsigned not null primary key,
      size bigint unsigned not null
    )`
  ],
  down: ['drop table if exists lfs_sizes']
}
