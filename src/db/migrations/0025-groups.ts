import type { Migration } from './migration.js'

export const groups: Migration = {
  name: '0025-groups',
  up: [
    `alter table namespaces add column lfs_enabled boolean not null default true,
       add key namespaces_by_name (kind, name, id), add key namespaces_by_path (kind, path_key, id)`,
    // Users who request membership. They have no level yet, so they are not among the members.
    `create table if not exists access_requests (
      id int unsigned not null auto_increment primary key,
      source_type varchar(16) not null,
      source_id int unsigned not null,
      user_id int unsigned not null,
      created_at datetime(3) not null,
      unique key access_requests_source (source_type, source_id, user_id),
      key access_requests_user (user_id)
    )`,
    // The daily task looks for memberships and shares that have ended.
    'alter table members add key members_expiry (expires_at)',
    'alter table project_group_links add key project_group_links_expiry (expires_at)'
  ],
  down: [
    'alter table project_group_links drop key project_group_links_expiry',
    'alter table members drop key members_expiry',
    'drop table if exists access_requests',
    'alter table namespaces drop key namespaces_by_path, drop key namespaces_by_name, drop column lfs_enabled'
  ]
}
