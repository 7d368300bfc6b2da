import type { Migration } from './migration.js'

export const hooks: Migration = {
  name: '0005-hooks',
  up: [
    `create table if not exists system_hooks (
      id int unsigned not null auto_increment primary key,
      url varchar(2000) not null,
      token_encrypted varbinary(1024) null,
      push_events boolean not null default true,
      tag_push_events boolean not null default false,
      note_events boolean not null default false,
      issues_events boolean not null default false,
      merge_requests_events boolean not null default false,
      enable_ssl_verification boolean not null default true,
      failures int unsigned not null default 0,
      resting_until datetime(3) null,
      rested_at datetime(3) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null
    )`,
    // The log of deliveries. The pair of hook and event is unique: an event that is published twice is delivered once.
    `create table if not exists hook_deliveries (
      id bigint unsigned not null auto_increment primary key,
      hook_id int unsigned not null,
      event_key varchar(64) character set ascii not null,
      event varchar(32) character set ascii not null,
      payload mediumtext not null,
      state varchar(16) character set ascii not null default 'pending',
      attempts smallint unsigned not null default 0,
      created_at datetime(3) not null,
      finished_at datetime(3) null,
      unique key hook_deliveries_event (hook_id, event_key),
      key hook_deliveries_waiting (hook_id, state),
      key hook_deliveries_state (state, created_at)
    )`,
    `create table if not exists hook_attempts (
      id bigint unsigned not null auto_increment primary key,
      delivery_id bigint unsigned not null,
      attempt smallint unsigned not null,
      started_at datetime(3) not null,
      duration_ms int unsigned not null,
      status smallint unsigned null,
      error varchar(500) null,
      request_headers text not null,
      response_headers text not null,
      response_body mediumtext not null,
      key hook_attempts_delivery (delivery_id, id)
    )`
  ],
  down: [
    'drop table if exists hook_attempts',
    'drop table if exists hook_deliveries',
    'drop table if exists system_hooks'
  ]
}
