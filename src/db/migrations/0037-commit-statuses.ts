import type { Migration } from './migration.js'

export const commitStatuses: Migration = {
  name: '0037-commit-statuses',
  up: [
    // Statuses that external services report for a commit. Builds have a separate table: no runner may take one of these rows.
    `create table if not exists commit_statuses (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      pipeline_id int unsigned not null,
      user_id int unsigned null,
      sha char(40) not null,
      ref varchar(255) not null,
      name varchar(255) not null,
      status varchar(8) not null,
      target_url varchar(2000) null,
      description varchar(255) null,
      created_at datetime(3) not null,
      started_at datetime(3) null,
      finished_at datetime(3) null,
      updated_at datetime(3) not null,
      key commit_statuses_pipeline (pipeline_id, name, id),
      key commit_statuses_sha (project_id, sha),
      key commit_statuses_user (user_id)
    )`
  ],
  down: ['drop table if exists commit_statuses']
}
