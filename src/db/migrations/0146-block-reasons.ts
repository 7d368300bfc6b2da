import type { Migration } from './migration.js'

// Why a user is blocked who may come back: an administrator must approve the account, or nobody has used it. Null: an administrator
// has blocked the user. And when the user was warned of a block because nobody uses the account.
export const blockReasons: Migration = {
  name: '0146-block-reasons',
  up: [
    `alter table users add column block_reason varchar(32) null,
       add column dormancy_warned_at datetime(3) null`
  ],
  down: ['alter table users drop column block_reason, drop column dormancy_warned_at']
}
