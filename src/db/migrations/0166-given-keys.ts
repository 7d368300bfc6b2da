import type { Migration } from './migration.js'

// What a provider gave: SSH keys, which it also takes away, and the address that an account follows while nobody changes it here.
export const givenKeys: Migration = {
  name: '0166-given-keys',
  up: [
    'alter table ssh_keys add column provider varchar(64) null, add key ssh_keys_provider (provider)',
    'alter table identities add column email varchar(255) null'
  ],
  down: [
    'alter table identities drop column email',
    'alter table ssh_keys drop key ssh_keys_provider, drop column provider'
  ]
}
