import type { Migration } from './migration.js'

export const lfsScans: Migration = {
  name: '0161-lfs-scans',
  up: [
    // When the refs of a project were last searched for its LFS objects.
    `create table if not exists lfs_scans (
      project_id int unsigned not null primary key,
      scanned_at datetime(3) not null
    )`,
    // Finds the objects whose removal a killed process has begun.
    'alter table lfs_objects add key lfs_objects_removing (removing_at)'
  ],
  down: ['alter table lfs_objects drop key lfs_objects_removing', 'drop table if exists lfs_scans']
}
