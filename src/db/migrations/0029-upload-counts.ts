import type { Migration } from './migration.js'

export const uploadCounts: Migration = {
  name: '0029-upload-counts',
  up: [
    // The files that users have uploaded to a project. Null until they are counted on the disk.
    `alter table project_statistics add column uploads_count int unsigned null,
      add column uploads_size bigint unsigned null`
  ],
  down: ['alter table project_statistics drop column uploads_count, drop column uploads_size']
}
