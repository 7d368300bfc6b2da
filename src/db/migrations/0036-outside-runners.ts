import type { Migration } from './migration.js'

export const outsideRunners: Migration = {
  name: '0036-outside-runners',
  up: [
    // Seconds that a build may take on this runner; null when the runner sets no limit.
    'alter table runners add column maximum_timeout int unsigned null',
    // The token of a build that has ended. It gives no access: it only lets a runner find out why its build ended.
    'alter table builds add column spent_token_hash binary(32) null',
    // The token that registers shared runners. It is created when it is first requested.
    `alter table application_settings
      add column runners_token_hash binary(32) null,
      add column runners_token_encrypted varbinary(255) null`
  ],
  down: [
    'alter table application_settings drop column runners_token_hash, drop column runners_token_encrypted',
    'alter table builds drop column spent_token_hash',
    'alter table runners drop column maximum_timeout'
  ]
}
