import type { Migration } from './migration.js'

export const projectRelations: Migration = {
  name: '0026-project-relations',
  up: [
    // Old paths. The path of a project is kept with the id of its namespace, so it stays correct when the namespace is renamed.
    `create table if not exists namespace_redirects (
      id int unsigned not null auto_increment primary key,
      namespace_id int unsigned not null,
      path varchar(255) not null,
      path_key varchar(255) as (lower(path)) stored,
      created_at datetime(3) not null,
      unique key namespace_redirects_path (path_key),
      key namespace_redirects_namespace (namespace_id)
    )`,
    `create table if not exists project_redirects (
      id int unsigned not null auto_increment primary key,
      namespace_id int unsigned not null,
      path varchar(255) not null,
      path_key varchar(255) as (lower(path)) stored,
      project_id int unsigned not null,
      created_at datetime(3) not null,
      unique key project_redirects_path (namespace_id, path_key),
      key project_redirects_project (project_id)
    )`,
    `create table if not exists project_stars (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      user_id int unsigned not null,
      created_at datetime(3) not null,
      unique key project_stars_user (user_id, project_id),
      key project_stars_project (project_id)
    )`,
    // Counted by jobs, so that no list starts git.
    `create table if not exists project_statistics (
      project_id int unsigned not null primary key,
      commit_count bigint unsigned not null default 0,
      repository_size bigint unsigned not null default 0,
      build_artifacts_size bigint unsigned not null default 0,
      updated_at datetime(3) not null
    )`,
    `create table if not exists forked_project_links (
      id int unsigned not null auto_increment primary key,
      forked_to_project_id int unsigned not null,
      forked_from_project_id int unsigned not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key forked_project_links_to (forked_to_project_id),
      key forked_project_links_from (forked_from_project_id)
    )`,
    // The source from which a job fills the repository of a new project: another project, or a URL. The row is deleted
    // afterwards.
    `create table if not exists project_imports (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      from_project_id int unsigned null,
      url_encrypted varbinary(8192) null,
      created_at datetime(3) not null,
      unique key project_imports_project (project_id)
    )`,
    // Lists look up shares and sources only where these columns are true. They may stay true too long, but are never false
    // too early.
    `alter table projects
      add column has_shares boolean not null default false,
      add column is_fork boolean not null default false,
      add column import_state varchar(16) null,
      add column import_error varchar(1000) null`,
    'update projects set has_shares = true where id in (select project_id from project_group_links)'
  ],
  down: [
    `alter table projects drop column has_shares, drop column is_fork, drop column import_state,
      drop column import_error`,
    'drop table if exists project_imports',
    'drop table if exists forked_project_links',
    'drop table if exists project_statistics',
    'drop table if exists project_stars',
    'drop table if exists project_redirects',
    'drop table if exists namespace_redirects'
  ]
}
