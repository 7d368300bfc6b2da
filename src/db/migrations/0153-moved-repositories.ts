import type { Migration } from './migration.js'

export const movedRepositories: Migration = {
  name: '0153-moved-repositories',
  up: [
    // Changes of refs wait until then, because the repository is about to move to another storage.
    'alter table projects add column held_until datetime(3) null',
    // Copies of repositories in storages in which their projects are no longer, or not yet.
    `create table if not exists old_repositories (
      project_id int unsigned not null,
      storage varchar(64) not null,
      removable_at datetime(3) not null,
      primary key (project_id, storage)
    )`
  ],
  down: ['drop table if exists old_repositories', 'alter table projects drop column held_until']
}
