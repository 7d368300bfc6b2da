import type { Migration } from './migration.js'

export const scimVersions: Migration = {
  name: '0177-scim-versions',
  // Grows when the groups of the user change. Everything else that a directory sees of a user is in the row, or in that of the account.
  up: ['alter table scim_users add column version bigint unsigned not null default 1'],
  down: ['alter table scim_users drop column version']
}
