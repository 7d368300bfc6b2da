import type { Migration } from './migration.js'

export const migrated: Migration = {
  name: '0171-migrated',
  up: [
    // Who people of other forges are here. Placeholders are users whom nobody can sign in as, until somebody gets their records.
    `create table if not exists migrated_people (
      id int unsigned not null auto_increment primary key,
      source varchar(255) not null,
      username varchar(255) not null,
      user_id int unsigned not null,
      is_placeholder boolean not null default false,
      email varchar(255) null,
      created_at datetime(3) not null,
      unique key migrated_people_username (source, username),
      key migrated_people_user (user_id),
      key migrated_people_email (email)
    )`,
    // Projects that came from other forges, with what they had there and here when they came.
    `create table if not exists migrated_projects (
      project_id int unsigned not null primary key,
      source varchar(255) not null,
      source_project varchar(255) not null,
      there varchar(64) not null,
      here varchar(64) not null,
      created_at datetime(3) not null,
      unique key migrated_projects_source (source, source_project)
    )`
  ],
  down: ['drop table if exists migrated_projects', 'drop table if exists migrated_people']
}
