import type { Migration } from './migration.js'

export const access: Migration = {
  name: '0007-access',
  up: [
    // "Project group link": a project is shared with a group, with a maximum access level.
    `create table if not exists project_group_links (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      group_id int unsigned not null,
      group_access tinyint unsigned not null,
      expires_at date null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key project_group_links_pair (project_id, group_id),
      key project_group_links_group (group_id, project_id)
    )`
  ],
  down: ['drop table if exists project_group_links']
}
