import type { Migration } from './migration.js'

// A membership that an identity provider gave ends when the provider no longer gives it. Null: a person gave it.
export const givenMembers: Migration = {
  name: '0143-given-members',
  up: ['alter table members add column provider varchar(64) null'],
  down: ['alter table members drop column provider']
}
