import type { Migration } from './migration.js'

/**
 * The projects of a namespace in the order of their creation, with what lists and counts of them need, and the memberships
 * of a user with their ends: lists of projects looked up every row for these.
 */
export const placesOfProjects: Migration = {
  name: '0106-places-of-projects',
  up: [
    'alter table projects add key projects_of_namespace (namespace_id, archived, created_at, id, visibility_level)',
    `alter table members drop key members_user,
       add key members_user (user_id, source_type, access_level, source_id, expires_at)`
  ],
  down: [
    'alter table projects drop key projects_of_namespace',
    'alter table members drop key members_user, add key members_user (user_id, source_type, access_level, source_id)'
  ]
}
