import type { Migration } from './migration.js'

export const keyFingerprint: Migration = {
  name: '0080-key-fingerprint',
  // Shows whether a home has the key that encrypted the values of this database. It reveals nothing about the key.
  up: ['alter table application_settings add column key_fingerprint varbinary(32) null'],
  down: ['alter table application_settings drop column key_fingerprint']
}
