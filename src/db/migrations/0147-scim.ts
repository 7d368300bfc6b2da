import type { Migration } from './migration.js'

// What a directory manages through SCIM: accounts, and its own groups.
export const scim: Migration = {
  name: '0147-scim',
  up: [
    `create table if not exists scim_tokens (
      id int unsigned not null auto_increment primary key,
      token_hash binary(32) not null,
      name varchar(255) not null,
      created_at datetime(3) not null,
      last_used_at datetime(3) null,
      expires_at datetime(3) null,
      revoked_at datetime(3) null,
      unique key scim_tokens_hash (token_hash)
    )`,
    // The accounts that the directory manages, with the names that it gave them.
    `create table if not exists scim_users (
      user_id int unsigned not null primary key,
      user_name varchar(255) not null,
      user_name_key varchar(255) as (lower(user_name)) stored,
      external_id varchar(255) null,
      display_name varchar(255) null,
      formatted_name varchar(255) null,
      given_name varchar(255) null,
      family_name varchar(255) null,
      email_type varchar(32) not null default 'work',
      -- The directory has deleted the account, which stays blocked here until the directory creates it again.
      deleted_at datetime(3) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key scim_users_user_name (user_name_key),
      key scim_users_external_id (external_id)
    )`,
    `create table if not exists scim_groups (
      id int unsigned not null auto_increment primary key,
      display_name varchar(255) not null,
      display_name_key varchar(255) as (lower(display_name)) stored,
      external_id varchar(255) null,
      -- Grows with each change, so that changes of a group run one after another.
      version bigint unsigned not null default 1,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key scim_groups_display_name (display_name_key),
      key scim_groups_external_id (external_id)
    )`,
    `create table if not exists scim_group_members (
      group_id int unsigned not null,
      user_id int unsigned not null,
      primary key (group_id, user_id),
      key scim_group_members_user (user_id)
    )`
  ],
  down: [
    'drop table if exists scim_group_members',
    'drop table if exists scim_groups',
    'drop table if exists scim_users',
    'drop table if exists scim_tokens'
  ]
}
