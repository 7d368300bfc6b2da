import type { Migration } from './migration.js'

export const variables: Migration = {
  name: '0033-variables',
  up: [
    `create table if not exists variables (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      name varchar(255) not null,
      value_encrypted mediumblob not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key variables_name (project_id, name)
    )`
  ],
  down: ['drop table if exists variables']
}
