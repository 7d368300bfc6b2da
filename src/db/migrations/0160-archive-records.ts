import type { Migration } from './migration.js'

export const archiveRecords: Migration = {
  name: '0160-archive-records',
  up: [
    // SECRET/NAME of an upload of the project.
    'alter table projects add column avatar varchar(240) null',
    // The hooks of an imported project call nobody until somebody enables them.
    'alter table hooks add column enabled boolean not null default true'
  ],
  down: ['alter table hooks drop column enabled', 'alter table projects drop column avatar']
}
