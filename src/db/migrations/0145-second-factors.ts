import type { Migration } from './migration.js'

// The second factors of users: an authenticator app, passkeys and recovery codes.
export const secondFactors: Migration = {
  name: '0145-second-factors',
  up: [
    `alter table users
      -- Since when the sign-in asks for a second factor.
      add column two_factor_at datetime(3) null,
      -- Since when the configuration requires one of the user. The days of grace begin here.
      add column two_factor_asked_at datetime(3) null`,
    `create table if not exists authenticator_apps (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned not null,
      secret_encrypted varbinary(255) not null,
      -- The 30 seconds of the last code that was accepted. Only codes of later ones are.
      last_step int unsigned not null,
      created_at datetime(3) not null,
      unique key authenticator_apps_user (user_id)
    )`,
    `create table if not exists recovery_codes (
      user_id int unsigned not null,
      code_hash binary(32) not null,
      primary key (user_id, code_hash)
    )`,
    `create table if not exists passkeys (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned not null,
      name varchar(255) not null,
      credential varbinary(1023) not null,
      public_key varbinary(4096) not null,
      counter int unsigned not null,
      transports varchar(255) not null,
      created_at datetime(3) not null,
      last_used_at datetime(3) null,
      unique key passkeys_credential (credential),
      key passkeys_user (user_id)
    )`
  ],
  down: [
    'drop table if exists passkeys',
    'drop table if exists recovery_codes',
    'drop table if exists authenticator_apps',
    'alter table users drop column two_factor_asked_at, drop column two_factor_at'
  ]
}
