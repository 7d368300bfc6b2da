import type { Migration } from './migration.js'

export const services: Migration = {
  name: '0050-services',
  up: [
    // The properties are null when none are set.
    `create table if not exists services (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      slug varchar(64) not null,
      active boolean not null,
      properties_encrypted mediumblob null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key services_slug (project_id, slug)
    )`
  ],
  down: ['drop table if exists services']
}
