import type { Migration } from './migration.js'

export const idTokens: Migration = {
  name: '0061-id-tokens',
  // The private key that signs `id_tokens` of builds. It is created at the first use.
  up: ['alter table application_settings add column id_token_key_encrypted mediumblob null'],
  down: ['alter table application_settings drop column id_token_key_encrypted']
}
