import type { Migration } from './migration.js'

export const ciFile: Migration = {
  name: '0056-ci-file',
  up: [
    // The variables that the script of a build has written for other builds.
    `create table if not exists reported_variables (
      id int unsigned not null auto_increment primary key,
      build_id int unsigned not null,
      pipeline_id int unsigned not null,
      attempt smallint unsigned not null,
      amount smallint unsigned not null,
      variables_encrypted mediumblob not null,
      created_at datetime(3) not null,
      unique key reported_variables_build (build_id),
      key reported_variables_pipeline (pipeline_id)
    )`,
    // The pipelines that builds have started: in another project or in the same one.
    `create table if not exists downstream_pipelines (
      id int unsigned not null auto_increment primary key,
      build_id int unsigned not null,
      upstream_pipeline_id int unsigned not null,
      pipeline_id int unsigned not null,
      root_pipeline_id int unsigned not null,
      depth tinyint unsigned not null,
      is_child boolean not null,
      awaited boolean not null,
      created_at datetime(3) not null,
      unique key downstream_pipelines_build (build_id),
      key downstream_pipelines_upstream (upstream_pipeline_id),
      unique key downstream_pipelines_pipeline (pipeline_id),
      key downstream_pipelines_root (root_pipeline_id)
    )`,
    `alter table environments
      add column auto_stop_at datetime(3) null,
      add column tier varchar(16) null,
      add key environments_auto_stop (auto_stop_at)`,
    // `name` is null when the file has none. `stops_on_failure`: the first failure cancels the rest. `is_child`: a
    // build of another pipeline of the project created it, so it is never the newest pipeline of its branch.
    `alter table pipelines
      add column name varchar(255) null,
      add column stops_on_failure boolean not null default false,
      add column is_child boolean not null default false,
      add key pipelines_newest (project_id, is_child, tag, ref, id)`
  ],
  down: [
    'alter table pipelines drop key pipelines_newest, drop column name, drop column stops_on_failure, drop column is_child',
    'alter table environments drop key environments_auto_stop, drop column auto_stop_at, drop column tier',
    'drop table if exists downstream_pipelines',
    'drop table if exists reported_variables'
  ]
}
