import type { Migration } from './migration.js'

export const branchesAndTags: Migration = {
  name: '0032-branches-and-tags',
  up: [
    // `name` is a branch, or a pattern with `*`.
    `create table if not exists protected_branches (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      name varchar(255) not null,
      developers_can_push boolean not null default false,
      developers_can_merge boolean not null default false,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key protected_branches_name (project_id, name)
    )`,
    `create table if not exists releases (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      tag varchar(255) not null,
      description mediumtext not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key releases_tag (project_id, tag)
    )`,
    `create table if not exists commit_comments (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      sha char(40) not null,
      author_id int unsigned not null,
      note mediumtext not null,
      path text null,
      line int unsigned null,
      line_type varchar(3) null,
      created_at datetime(3) not null,
      key commit_comments_commit (project_id, sha, id),
      key commit_comments_author (author_id)
    )`
  ],
  down: [
    'drop table if exists commit_comments',
    'drop table if exists releases',
    'drop table if exists protected_branches'
  ]
}
