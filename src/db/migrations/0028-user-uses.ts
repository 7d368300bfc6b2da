import type { Migration } from './migration.js'

export const userUses: Migration = {
  name: '0028-user-uses',
  up: [
    // Separate from users: rules lock those rows for a whole transaction, and recording a use must not wait.
    `create table if not exists user_uses (
      user_id int unsigned not null primary key,
      last_used_at datetime(3) not null
    )`,
    // The uses that are known from before.
    `insert into user_uses (user_id, last_used_at)
     select found.user_id, max(found.at) from (
       select id as user_id, current_sign_in_at as at from users
       union all select user_id, last_used_at from access_tokens
       union all select g.user_id, t.last_used_at from oauth_tokens t join oauth_grants g on g.id = t.grant_id
       union all select user_id, created_at from ref_changes
     ) found where found.user_id is not null and found.at is not null group by found.user_id
     on duplicate key update last_used_at = greatest(user_uses.last_used_at, values(last_used_at))`
  ],
  down: ['drop table if exists user_uses']
}
