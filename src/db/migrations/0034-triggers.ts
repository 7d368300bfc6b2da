import type { Migration } from './migration.js'

export const triggers: Migration = {
  name: '0034-triggers',
  up: [
    `create table if not exists triggers (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      token_hash binary(32) not null,
      token_encrypted varbinary(255) not null,
      last_used_at datetime(3) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key triggers_token (token_hash),
      key triggers_project (project_id, id)
    )`,
    // The variables that the caller of a trigger passed to the builds of its pipeline. The row stays when the trigger is deleted.
    `create table if not exists trigger_requests (
      id int unsigned not null auto_increment primary key,
      trigger_id int unsigned not null,
      pipeline_id int unsigned not null,
      variables_encrypted mediumblob null,
      created_at datetime(3) not null,
      unique key trigger_requests_pipeline (pipeline_id),
      key trigger_requests_trigger (trigger_id)
    )`
  ],
  down: ['drop table if exists trigger_requests', 'drop table if exists triggers']
}
