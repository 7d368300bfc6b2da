import type { Migration } from './migration.js'

// A merge request from a fork keeps its LFS objects in the target from the beginning. Until a merge, only the merge request holds
// them there (`held`), and they do not count for the limit of the project: its members have not asked for them.
export const heldObjects: Migration = {
  name: '0172-held-objects',
  up: [
    `alter table lfs_links add column held boolean not null default false, drop key lfs_links_size,
       add key lfs_links_size (project_id, held, size)`,
    // Whether the target has all objects of a version that the fork has.
    'alter table merge_request_versions add column has_objects boolean not null default false'
  ],
  down: [
    'alter table merge_request_versions drop column has_objects',
    `alter table lfs_links drop key lfs_links_size, drop column held, add key lfs_links_size (project_id, size)`
  ]
}
