import type { Migration } from './migration.js'

export const protectedRunners: Migration = {
  name: '0060-protected-runners',
  up: [
    // Runners only for builds of protected branches. Builds that wait during the upgrade count as unprotected.
    'alter table runners add column ref_protected boolean not null default false',
    'alter table builds add column ref_protected boolean not null default false'
  ],
  down: ['alter table builds drop column ref_protected', 'alter table runners drop column ref_protected']
}
