import type { Migration } from './migration.js'

export const schedules: Migration = {
  name: '0040-schedules',
  up: [
    `create table if not exists pipeline_schedules (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      user_id int unsigned null,
      description varchar(255) not null,
      ref varchar(255) not null,
      cron varchar(255) not null,
      active boolean not null default true,
      variables_encrypted mediumblob null,
      next_run_at datetime(3) null,
      last_run_at datetime(3) null,
      last_pipeline_id int unsigned null,
      last_error varchar(255) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      key pipeline_schedules_due (next_run_at),
      key pipeline_schedules_project (project_id, id),
      key pipeline_schedules_user (user_id)
    )`,
    // The variables that a schedule or a command passed to the builds of a pipeline. The unique key ensures one
    // pipeline for each time of a schedule, however often its job runs. The row stays when the schedule is deleted.
    `create table if not exists pipeline_requests (
      id int unsigned not null auto_increment primary key,
      pipeline_id int unsigned not null,
      schedule_id int unsigned null,
      due_at datetime(3) null,
      variables_encrypted mediumblob null,
      created_at datetime(3) not null,
      unique key pipeline_requests_pipeline (pipeline_id),
      unique key pipeline_requests_schedule (schedule_id, due_at)
    )`
  ],
  down: ['drop table if exists pipeline_requests', 'drop table if exists pipeline_schedules']
}
