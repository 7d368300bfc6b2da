import type { Migration } from './migration.js'

// When the directory was last seen to have the person: who was not seen by a whole reading of the directory has left.
export const seenIdentities: Migration = {
  name: '0144-seen-identities',
  up: ['alter table identities add column seen_at datetime(3) null'],
  down: ['alter table identities drop column seen_at']
}
