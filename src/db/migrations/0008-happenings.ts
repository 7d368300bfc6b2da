import type { Migration } from './migration.js'

const SYSTEM_HOOKS = `create table if not exists system_hooks (
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
    )`
const HOOKS = `create table if not exists hooks (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned null,
      url varchar(2000) not null,
      token_encrypted varbinary(1024) null,
      push_events boolean not null default true,
      tag_push_events boolean not null default false,
      note_events boolean not null default false,
      issues_events boolean not null default false,
      confidential_issues_events boolean not null default false,
      merge_requests_events boolean not null default false,
      build_events boolean not null default false,
      pipeline_events boolean not null default false,
      wiki_page_events boolean not null default false,
      enable_ssl_verification boolean not null default true,
      failures int unsigned not null default 0,
      resting_until datetime(3) null,
      rested_at datetime(3) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      key hooks_project (project_id)
    )`
const COLUMNS = `id, url, token_encrypted, push_events, tag_push_events, note_events, issues_events,
      merge_requests_events, enable_ssl_verification, failures, resting_until, rested_at, created_at, updated_at`

/**
 * Deliveries contain the ids of removed hooks, and the ids of a new table start after its highest id. Inserting and
 * deleting a row with the highest used id prevents a new hook from getting such an id together with those deliveries.
 */
const skipUsedNumbers = (table: string) => [
  `insert ignore into ${table} (id, url, created_at, updated_at)
     select max(hook_id), '', utc_timestamp(3), utc_timestamp(3) from hook_deliveries having max(hook_id) is not null`,
  `delete from ${table} where url = ''`
]

export const happenings: Migration = {
  name: '0008-happenings',
  up: [
    // Creates an empty table when the migration runs a second time.
    SYSTEM_HOOKS,
    HOOKS,
    `insert ignore into hooks (${COLUMNS}) select ${COLUMNS} from system_hooks`,
    ...skipUsedNumbers('hooks'),
    'drop table if exists system_hooks',
    // Actions of users in projects. A row is a snapshot: it stays the same when its target changes.
    `create table if not exists activity_events (
      id bigint unsigned not null auto_increment primary key,
      happening_id varchar(64) character set ascii not null,
      project_id int unsigned null,
      author_id int unsigned not null,
      action varchar(64) character set ascii not null,
      target_type varchar(32) character set ascii null,
      target_id bigint unsigned null,
      target_title varchar(255) null,
      data mediumtext null,
      note_id bigint unsigned null,
      created_at datetime(3) not null,
      unique key activity_events_happening (happening_id),
      key activity_events_project (project_id, created_at, id),
      key activity_events_author (author_id, created_at, id)
    )`
  ],
  // The older schema has no table for the hooks of projects, so they are lost.
  carried: { hooks: 'project_id is null' },
  down: [
    'drop table if exists activity_events',
    HOOKS,
    SYSTEM_HOOKS,
    `insert ignore into system_hooks (${COLUMNS}) select ${COLUMNS} from hooks where project_id is null`,
    ...skipUsedNumbers('system_hooks'),
    'drop table if exists hooks'
  ]
}
