import type { Migration } from './migration.js'

export const accounts: Migration = {
  name: '0001-accounts',
  up: [
    `create table if not exists users (
      id int unsigned not null auto_increment primary key,
      username varchar(255) not null,
      name varchar(255) not null,
      email varchar(255) not null,
      state varchar(16) character set ascii not null default 'active',
      admin boolean not null default false,
      \`external\` boolean not null default false,
      password_hash varchar(255) character set ascii not null,
      bio varchar(255) null,
      location varchar(255) null,
      messenger varchar(255) not null default '',
      professional_network varchar(255) not null default '',
      microblog varchar(255) not null default '',
      website_url varchar(255) not null default '',
      organization varchar(255) not null default '',
      projects_limit int not null default 10,
      can_create_group boolean not null default true,
      theme_id int not null default 1,
      color_scheme_id int not null default 1,
      confirmed_at datetime(3) null,
      last_sign_in_at datetime(3) null,
      current_sign_in_at datetime(3) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key users_username (username),
      unique key users_email (email),
      key users_state (state, id)
    )`,
    `create table if not exists identities (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned not null,
      provider varchar(64) not null,
      extern_uid varchar(255) not null,
      unique key identities_provider (provider, extern_uid),
      key identities_user (user_id)
    )`,
    // One table for all credentials of a call, so that one lookup by hash finds a token of any kind.
    `create table if not exists access_tokens (
      id int unsigned not null auto_increment primary key,
      token_hash binary(32) not null,
      user_id int unsigned not null,
      kind varchar(16) character set ascii not null,
      name varchar(255) not null default '',
      scopes varchar(255) character set ascii not null default 'api',
      encrypted varbinary(255) null,
      created_at datetime(3) not null,
      last_used_at datetime(3) null,
      expires_at datetime(3) null,
      revoked_at datetime(3) null,
      unique key access_tokens_hash (token_hash),
      key access_tokens_user (user_id, kind)
    )`,
    `create table if not exists sessions (
      id binary(32) not null primary key,
      user_id int unsigned not null,
      address varchar(64) character set ascii not null,
      user_agent varchar(255) not null,
      created_at datetime(3) not null,
      expires_at datetime(3) not null,
      key sessions_user (user_id),
      key sessions_expiry (expires_at)
    )`
  ],
  down: [
    'drop table if exists sessions',
    'drop table if exists access_tokens',
    'drop table if exists identities',
    'drop table if exists users'
  ]
}
