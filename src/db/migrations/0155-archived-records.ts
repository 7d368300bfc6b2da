import type { Migration } from './migration.js'

export const archivedRecords: Migration = {
  name: '0155-archived-records',
  up: [
    // The files of records that have left the database. A file without a row does not count: a killed run left it.
    `create table if not exists archived_files (
      id int unsigned not null auto_increment primary key,
      kind varchar(16) not null,
      month char(7) not null,
      project_id int unsigned null,
      author_id int unsigned null,
      name varchar(160) not null,
      records int unsigned not null,
      bytes bigint unsigned not null,
      sha256 char(64) not null,
      created_at datetime(3) not null,
      unique key archived_files_name (name),
      key archived_files_project (project_id, id),
      key archived_files_author (author_id)
    )`,
    // Pipelines are counted for their numbers, also those that have left.
    `create table if not exists archived_pipelines (
      id int unsigned not null primary key,
      project_id int unsigned not null,
      key archived_pipelines_project (project_id, id)
    )`
  ],
  down: ['drop table if exists archived_pipelines', 'drop table if exists archived_files']
}
