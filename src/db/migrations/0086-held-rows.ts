import type { Migration } from './migration.js'

const TABLES = ['application_settings', 'boards', 'namespaces', 'pipelines', 'projects', 'runners', 'users']

// Changes whenever a transaction locks the row: see db/connect/lock-row.ts.
export const heldRows: Migration = {
  name: '0086-held-rows',
  up: TABLES.map(table => `alter table ${table} add column held tinyint(1) not null default 0`),
  down: TABLES.map(table => `alter table ${table} drop column held`)
}
