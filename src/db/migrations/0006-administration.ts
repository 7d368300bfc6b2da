import type { Migration } from './migration.js'

export const administration: Migration = {
  name: '0006-administration',
  up: [
    `create table if not exists ssh_keys (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned not null,
      title varchar(255) not null,
      public_key text not null,
      fingerprint varchar(64) character set ascii collate ascii_bin not null,
      created_at datetime(3) not null,
      last_used_at datetime(3) null,
      unique key ssh_keys_fingerprint (fingerprint),
      key ssh_keys_user (user_id, id)
    )`,
    // The other addresses of a user. The primary address stays in the row of the user.
    `create table if not exists emails (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned not null,
      email varchar(255) not null,
      created_at datetime(3) not null,
      unique key emails_email (email),
      key emails_user (user_id, id)
    )`,
    // One row. Its JSON contains only changed settings: defaults belong to the program and may change with it.
    `create table if not exists application_settings (
      id int unsigned not null primary key,
      changed mediumtext not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null
    )`,
    // The row exists from the start: a change locks it, so that two concurrent changes do not overwrite each other.
    `insert ignore into application_settings (id, changed, created_at, updated_at)
      values (1, '{}', utc_timestamp(3), utc_timestamp(3))`,
    `create table if not exists broadcast_messages (
      id int unsigned not null auto_increment primary key,
      message text not null,
      starts_at datetime(3) not null,
      ends_at datetime(3) not null,
      color varchar(16) character set ascii not null,
      font varchar(16) character set ascii not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      key broadcast_messages_ends (ends_at)
    )`,
    // Names as well as ids: the record of a change outlives its author and its target.
    `create table if not exists audit_events (
      id bigint unsigned not null auto_increment primary key,
      created_at datetime(3) not null,
      actor_id int unsigned null,
      actor_name varchar(255) not null,
      acting_as varchar(255) null,
      via varchar(16) character set ascii not null,
      address varchar(64) character set ascii null,
      action varchar(64) character set ascii not null,
      target_type varchar(32) character set ascii not null,
      target_id varchar(64) character set ascii not null,
      target_name varchar(255) not null,
      changes mediumtext not null,
      key audit_events_created (created_at),
      key audit_events_actor (actor_name, id),
      key audit_events_action (action, id),
      key audit_events_target (target_type, target_id, id)
    )`,
    `create table if not exists maintenance_runs (
      id bigint unsigned not null auto_increment primary key,
      task varchar(64) character set ascii not null,
      cause varchar(16) character set ascii not null,
      dry_run boolean not null default false,
      hostname varchar(255) not null,
      pid int unsigned not null,
      state varchar(8) character set ascii not null,
      started_at datetime(3) not null,
      finished_at datetime(3) null,
      count bigint unsigned not null default 0,
      report mediumtext not null,
      error text null,
      key maintenance_runs_task (task, id),
      key maintenance_runs_started (started_at)
    )`,
    // The process that runs a task. It holds a lease, because it may be killed, and renews it while the task runs.
    `create table if not exists maintenance_locks (
      task varchar(64) character set ascii not null primary key,
      holder varchar(64) character set ascii not null,
      lease_until datetime(3) not null
    )`,
    // When a repository was last checked and repacked: the ones that have waited longest come first.
    `create table if not exists repository_upkeeps (
      project_id int unsigned not null primary key,
      looked_at datetime(3) not null,
      repacked_at datetime(3) null,
      key repository_upkeeps_looked (looked_at)
    )`,
    // Projects whose rows are deleted, until their builds and files are deleted as well.
    `create table if not exists project_removals (
      project_id int unsigned not null primary key,
      storage varchar(64) character set ascii not null,
      path_with_namespace varchar(512) not null,
      created_at datetime(3) not null
    )`,
    // The counts of every queue for each minute, for rates and sparklines. With its heartbeats, a process writes its
    // own whole row again, so that a write whose answer was lost can be repeated.
    `create table if not exists queue_minutes (
      minute datetime not null,
      queue varchar(32) character set ascii not null,
      process_id bigint unsigned not null,
      processed bigint unsigned not null default 0,
      failed bigint unsigned not null default 0,
      primary key (minute, queue, process_id)
    )`,
    // When an existing job last failed. In a separate table, because every claim has to maintain the indexes of the jobs.
    `create table if not exists job_failures (
      job_id bigint unsigned not null primary key,
      failed_at datetime(3) not null,
      key job_failures_at (failed_at)
    )`
  ],
  down: [
    'drop table if exists job_failures',
    'drop table if exists queue_minutes',
    'drop table if exists project_removals',
    'drop table if exists repository_upkeeps',
    'drop table if exists maintenance_locks',
    'drop table if exists maintenance_runs',
    'drop table if exists audit_events',
    'drop table if exists broadcast_messages',
    'drop table if exists application_settings',
    'drop table if exists emails',
    'drop table if exists ssh_keys'
  ]
}
