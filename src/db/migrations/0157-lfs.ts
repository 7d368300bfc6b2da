import type { Migration } from './migration.js'

// Objects of git LFS. `lfs_objects` has one row for each stored file, whose name is the SHA-256 of its content. A link says that a
// project may read an object; its size is copied, so that an index gives the size of a project. `touched_at` is the last time that a
// client was promised that the object is there: what is removed must not have been touched for long. `removing_at` is set while an
// object without links is being removed: an upload of the same object must wait.
export const lfs: Migration = {
  name: '0157-lfs',
  up: [
    `create table if not exists lfs_objects (
      oid char(64) not null primary key,
      size bigint unsigned not null,
      created_at datetime(3) not null,
      touched_at datetime(3) not null,
      removing_at datetime(3) null,
      key lfs_objects_touched (touched_at)
    )`,
    `create table if not exists lfs_links (
      project_id int unsigned not null,
      oid char(64) not null,
      size bigint unsigned not null,
      touched_at datetime(3) not null,
      primary key (project_id, oid),
      key lfs_links_object (oid),
      key lfs_links_size (project_id, size)
    )`,
    // The hash finds a path, which is too long for an index.
    `create table if not exists lfs_locks (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      path varchar(1024) not null,
      path_hash char(64) not null,
      user_id int unsigned not null,
      created_at datetime(3) not null,
      unique key lfs_locks_path (project_id, path_hash),
      key lfs_locks_user (user_id)
    )`
  ],
  down: ['drop table if exists lfs_locks', 'drop table if exists lfs_links', 'drop table if exists lfs_objects']
}
