import type { Migration } from './migration.js'

export const oauth: Migration = {
  name: '0027-oauth',
  up: [
    // Without a user, the application belongs to the whole instance. Its URIs are separated by line feeds.
    `create table if not exists oauth_applications (
      id int unsigned not null auto_increment primary key,
      uid char(64) not null,
      secret_hash binary(32) not null,
      name varchar(255) not null,
      redirect_uris text not null,
      scopes varchar(255) not null,
      confidential boolean not null default true,
      user_id int unsigned null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key oauth_applications_uid (uid),
      key oauth_applications_user (user_id, id)
    )`,
    // One consent of a user: its authorization code, and the family of tokens that came from it. Revoking the row ends
    // all of them at once. A grant for a password without an application has no application, and an application that
    // acts for itself has no user.
    `create table if not exists oauth_grants (
      id bigint unsigned not null auto_increment primary key,
      application_id int unsigned null,
      user_id int unsigned null,
      kind varchar(32) not null,
      scopes varchar(255) not null,
      code_hash binary(32) null,
      code_expires_at datetime(3) null,
      code_used_at datetime(3) null,
      redirect_uri text null,
      code_challenge varchar(128) null,
      code_challenge_method varchar(8) null,
      created_at datetime(3) not null,
      revoked_at datetime(3) null,
      unique key oauth_grants_code (code_hash),
      key oauth_grants_user (user_id, id),
      key oauth_grants_application (application_id, id),
      key oauth_grants_code_expiry (code_expires_at),
      key oauth_grants_revoked (revoked_at)
    )`,
    // An access token and the refresh token that came with it. The row of a used refresh token stays for a while: if it
    // is used again, either its sender has stolen it, or somebody else has stolen its successor.
    `create table if not exists oauth_tokens (
      id bigint unsigned not null auto_increment primary key,
      grant_id bigint unsigned not null,
      token_hash binary(32) not null,
      refresh_hash binary(32) null,
      scopes varchar(255) not null,
      created_at datetime(3) not null,
      last_used_at datetime(3) null,
      expires_at datetime(3) null,
      revoked_at datetime(3) null,
      unique key oauth_tokens_hash (token_hash),
      unique key oauth_tokens_refresh (refresh_hash),
      key oauth_tokens_grant (grant_id, id),
      key oauth_tokens_revoked (revoked_at)
    )`
  ],
  down: [
    'drop table if exists oauth_tokens',
    'drop table if exists oauth_grants',
    'drop table if exists oauth_applications'
  ]
}
