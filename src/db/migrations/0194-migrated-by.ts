import type { Migration } from './migration.js'

// Which migration has brought a project: another one of the same source does not replace it. Null: an earlier program brought it.
export const migratedBy: Migration = {
  name: '0194-migrated-by',
  up: ['alter table migrated_projects add column migration_id int unsigned null'],
  down: ['alter table migrated_projects drop column migration_id']
}
