import type { Migration } from './migration.js'

export const runners: Migration = {
  name: '0009-runners',
  up: [
    // The built-in runner has no token, so no other process can pretend to be it. `built_in` is 1 or null, so that its
    // unique key allows one built-in runner and any number of others.
    `create table if not exists runners (
      id int unsigned not null auto_increment primary key,
      token_hash binary(32) null,
      token_encrypted varbinary(255) null,
      description varchar(255) not null,
      active boolean not null default true,
      is_shared boolean not null default false,
      run_untagged boolean not null default true,
      locked boolean not null default false,
      built_in boolean null,
      tag_list text not null,
      name varchar(255) null,
      version varchar(255) null,
      revision varchar(255) null,
      platform varchar(255) null,
      architecture varchar(255) null,
      contacted_at datetime(3) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key runners_token (token_hash),
      unique key runners_built_in (built_in)
    )`,
    `create table if not exists runner_projects (
      runner_id int unsigned not null,
      project_id int unsigned not null,
      primary key (runner_id, project_id),
      key runner_projects_project (project_id, runner_id)
    )`,
    // Counts the latest builds of a stage by status. A pipeline's next step is read from here, not from its builds.
    `create table if not exists pipeline_stages (
      pipeline_id int unsigned not null,
      position smallint unsigned not null,
      name varchar(255) not null,
      created int unsigned not null default 0,
      pending int unsigned not null default 0,
      running int unsigned not null default 0,
      success int unsigned not null default 0,
      failed int unsigned not null default 0,
      canceled int unsigned not null default 0,
      skipped int unsigned not null default 0,
      ignored int unsigned not null default 0,
      primary key (pipeline_id, position)
    )`,
    // A claim reads the oldest pending build of each project and list of tags, with one index step for each, however many builds
    // are pending. The index has a hash of the list, which is too long itself. It no longer has the lease, because every renewal
    // wrote to it, and there are few running builds. `builds_stage` finds only the builds of a stage.
    `alter table builds
      add column runner_id int unsigned null,
      add column tag_list_hash binary(16) not null default '',
      add key builds_queue (status, project_id, tag_list_hash, id),
      drop key builds_status,
      add key builds_stage (pipeline_id, stage_index, id),
      drop key builds_pipeline`,
    `update builds set tag_list_hash = unhex(left(sha2(tag_list, 256), 32)) where status in ('created', 'pending', 'skipped')`,
    // No version before this one could retry builds, so every build is the latest of its name.
    `insert ignore into pipeline_stages (pipeline_id, position, name, created, pending, running, success, failed, canceled,
       skipped, ignored)
     select pipeline_id, stage_index, min(stage), sum(status = 'created'), sum(status = 'pending'),
       sum(status = 'running'), sum(status = 'success'), sum(status = 'failed' and not allow_failure),
       sum(status = 'canceled' and not allow_failure), sum(status = 'skipped'),
       sum(status in ('failed', 'canceled') and allow_failure)
     from builds group by pipeline_id, stage_index`
  ],
  down: [
    `alter table builds
      drop key builds_queue,
      drop column tag_list_hash,
      drop column runner_id,
      add key builds_status (status, lease_until),
      drop key builds_stage,
      add key builds_pipeline (pipeline_id, id)`,
    'drop table if exists pipeline_stages',
    'drop table if exists runner_projects',
    'drop table if exists runners'
  ]
}
