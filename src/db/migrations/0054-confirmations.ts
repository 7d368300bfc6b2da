import type { Migration } from './migration.js'

export const confirmations: Migration = {
  name: '0054-confirmations',
  up: [
    // `confirmed_at` lets a user sign in. This column is set when the user has confirmed the current primary address.
    'alter table users add column email_confirmed_at datetime(3) null',
    // There was no confirmation before: an administrator has created all these users.
    'update users set confirmed_at = created_at where confirmed_at is null',
    'update users set email_confirmed_at = confirmed_at',
    'alter table emails add column confirmed_at datetime(3) null',
    // People who have signed up, until they confirm their address: then they become users.
    `create table if not exists sign_ups (
      id int unsigned not null auto_increment primary key,
      username varchar(255) not null,
      username_key varchar(255) generated always as (lower(username)) stored,
      name varchar(255) not null,
      email varchar(255) not null,
      password_hash varchar(255) not null,
      created_at datetime(3) not null,
      unique key sign_ups_username (username_key),
      key sign_ups_created (created_at)
    )`,
    // The networks from which users have signed in.
    `create table if not exists sign_in_addresses (
      user_id int unsigned not null,
      network varchar(64) not null,
      seen_at datetime(3) not null,
      primary key (user_id, network),
      key sign_in_addresses_seen (seen_at)
    )`,
    // Of IPv6 addresses, the first 64 bits are recorded, which SQL cannot format as the appliance does: their users
    // receive one additional mail.
    `insert ignore into sign_in_addresses (user_id, network, seen_at)
     select user_id, address, max(created_at) from sessions where address like '%.%' and address not like '%:%'
     group by user_id, address`
  ],
  down: [
    'drop table if exists sign_in_addresses',
    'drop table if exists sign_ups',
    'alter table emails drop column confirmed_at',
    'alter table users drop column email_confirmed_at'
  ]
}
