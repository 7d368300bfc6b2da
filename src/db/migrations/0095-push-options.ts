import type { Migration } from './migration.js'

export const pushOptions: Migration = {
  name: '0095-push-options',
  // Whether a push asked for no pipeline (`git push -o ci.skip`).
  up: ['alter table ref_changes add column skip_ci boolean not null default false'],
  down: ['alter table ref_changes drop column skip_ci']
}
