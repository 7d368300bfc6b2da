import type { Migration } from './migration.js'

export const environments: Migration = {
  name: '0035-environments',
  up: [
    `create table if not exists environments (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      name varchar(255) not null,
      slug varchar(24) not null,
      external_url varchar(255) null,
      state varchar(16) not null default 'available',
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key environments_name (project_id, name),
      unique key environments_slug (project_id, slug)
    )`,
    `create table if not exists deployments (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      iid int unsigned not null,
      environment_id int unsigned not null,
      build_id int unsigned not null,
      ref varchar(255) not null,
      tag boolean not null,
      sha char(40) not null,
      user_id int unsigned null,
      created_at datetime(3) not null,
      unique key deployments_iid (project_id, iid),
      unique key deployments_build (build_id),
      key deployments_project (project_id, id),
      key deployments_environment (environment_id, id)
    )`,
    // A build gets its environment when it starts: the name may contain variables of the build.
    'alter table builds add column environment_id int unsigned null, add column environment_url varchar(255) null'
  ],
  down: [
    'alter table builds drop column environment_id, drop column environment_url',
    'drop table if exists deployments',
    'drop table if exists environments'
  ]
}
