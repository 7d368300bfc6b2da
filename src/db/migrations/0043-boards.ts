import type { Migration } from './migration.js'

export const boards: Migration = {
  name: '0043-boards',
  up: [
    `create table if not exists boards (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      created_at datetime(3) not null,
      unique key boards_project (project_id)
    )`,
    `create table if not exists board_lists (
      id int unsigned not null auto_increment primary key,
      board_id int unsigned not null,
      label_id int unsigned not null,
      position int unsigned not null,
      created_at datetime(3) not null,
      unique key board_lists_label (board_id, label_id),
      key board_lists_position (board_id, position),
      key board_lists_of_label (label_id)
    )`
  ],
  down: ['drop table if exists board_lists', 'drop table if exists boards']
}
