import type { Migration } from './migration.js'

export const followedPipelines: Migration = {
  name: '0062-followed-pipelines',
  up: [
    // The pipelines that builds of `pipeline_id` wait for, to adopt their statuses.
    `create table if not exists followed_pipelines (
      id int unsigned not null auto_increment primary key,
      build_id int unsigned not null,
      pipeline_id int unsigned not null,
      followed_pipeline_id int unsigned not null,
      created_at datetime(3) not null,
      unique key followed_pipelines_build (build_id),
      key followed_pipelines_pipeline (pipeline_id),
      key followed_pipelines_followed (followed_pipeline_id)
    )`
  ],
  down: ['drop table if exists followed_pipelines']
}
