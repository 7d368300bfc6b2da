import type { Migration } from './migration.js'

export const snippets: Migration = {
  name: '0048-snippets',
  up: [
    // A personal snippet has no project.
    `create table if not exists snippets (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned null,
      author_id int unsigned not null,
      title varchar(255) not null,
      file_name varchar(255) not null,
      content mediumtext not null,
      visibility_level tinyint unsigned not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      key snippets_project (project_id, id),
      key snippets_public (project_id, visibility_level, id),
      key snippets_author (author_id, project_id, id)
    )`
  ],
  down: ['drop table if exists snippets']
}
