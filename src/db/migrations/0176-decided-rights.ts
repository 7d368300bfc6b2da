import type { Migration } from './migration.js'

// What each provider says about the rights of a person, and what somebody gave by hand: the rights of a user follow from all of them.
export const decidedRights: Migration = {
  name: '0176-decided-rights',
  up: [
    'alter table identities add column admin boolean null, add column external boolean null',
    `alter table users add column admin_by_hand boolean not null default false,
       add column external_by_hand boolean not null default false`,
    // Until now, a provider that decides has replaced what others gave, so nothing else is known of users who have an identity.
    `update users u set u.admin_by_hand = u.admin, u.external_by_hand = u.external
       where not exists (select 1 from identities i where i.user_id = u.id)`
  ],
  down: [
    'alter table users drop column admin_by_hand, drop column external_by_hand',
    'alter table identities drop column admin, drop column external'
  ]
}
