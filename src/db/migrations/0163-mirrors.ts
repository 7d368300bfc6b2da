import type { Migration } from './migration.js'

// Remotes that a project follows (pull) or passes its branches on to (push). `due_at` is when the mirror runs next; while it runs, when
// another machine may take it over. `run` is the name of that run. `user_id` is the user in whose name it runs.
export const mirrors: Migration = {
  name: '0163-mirrors',
  up: [
    `create table if not exists mirrors (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      user_id int unsigned null,
      direction varchar(4) not null,
      url varchar(2000) not null,
      secret_encrypted blob null,
      public_key varchar(200) null,
      host_key varchar(64) null,
      seen_host_key varchar(64) null,
      branch_patterns text null,
      overwrite_diverged tinyint(1) not null default 0,
      delete_removed tinyint(1) not null default 0,
      enabled tinyint(1) not null default 1,
      interval_minutes int unsigned null,
      hook_token_hash binary(32) null,
      due_at datetime(3) null,
      requested_at datetime(3) null,
      run varchar(64) null,
      started_at datetime(3) null,
      finished_at datetime(3) null,
      succeeded_at datetime(3) null,
      result varchar(16) null,
      problem varchar(32) null,
      error varchar(1000) null,
      ref_results mediumtext null,
      moved_refs int unsigned not null default 0,
      failures int unsigned not null default 0,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      key mirrors_project (project_id, direction),
      key mirrors_user (user_id),
      key mirrors_due (due_at),
      unique key mirrors_hook (hook_token_hash)
    )`
  ],
  down: ['drop table if exists mirrors']
}
