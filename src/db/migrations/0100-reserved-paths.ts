import type { Migration } from './migration.js'

export const reservedPaths: Migration = {
  name: '0100-reserved-paths',
  // Whether an old path is reserved for the namespace that had it, or only redirects.
  up: ['alter table namespace_redirects add column reserved boolean not null default true'],
  down: ['alter table namespace_redirects drop column reserved']
}
