import type { Migration } from './migration.js'

export const trust: Migration = {
  name: '0022-trust',
  up: [
    // Wrong passwords within a time window, for all processes of the appliance together, and addresses from which a
    // right one was sent. The keys are hashes: somebody may have typed a password as the login.
    `create table if not exists password_attempts (
      key_hash binary(32) not null primary key,
      wrong int unsigned not null,
      until_at datetime(3) not null,
      key password_attempts_until (until_at)
    )`,
    // Null for traces of older versions, which doctor compares by size only.
    'alter table builds add column trace_sha256 binary(32) null'
  ],
  down: ['alter table builds drop column trace_sha256', 'drop table if exists password_attempts']
}
