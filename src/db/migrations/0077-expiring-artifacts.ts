import type { Migration } from './migration.js'

export const expiringArtifacts: Migration = {
  name: '0077-expiring-artifacts',
  up: ['alter table builds add key builds_expiring (artifacts_expire_at, id)'],
  down: ['alter table builds drop key builds_expiring']
}
