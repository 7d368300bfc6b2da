import type { Migration } from './migration.js'

/**
 * An index with all columns that a membership is checked by looks cheaper to the database than it is: it read all memberships
 * of a user for each project of a list, instead of one.
 */
export const membershipsBySource: Migration = {
  name: '0107-memberships-by-source',
  up: [
    'alter table members drop key members_user, add key members_user (user_id, source_type, access_level, source_id)'
  ],
  down: [
    `alter table members drop key members_user,
       add key members_user (user_id, source_type, access_level, source_id, expires_at)`
  ]
}
