import type { Migration } from './migration.js'

const COMMENTS = `create table if not exists commit_comments (
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

const NOTES = `create table if not exists notes (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      noteable_type varchar(16) not null,
      noteable_id int unsigned null,
      commit_id char(40) null,
      author_id int unsigned not null,
      note mediumtext not null,
      is_system boolean not null default false,
      path text null,
      line int unsigned null,
      line_type varchar(3) null,
      updated_by_id int unsigned null,
      refers_type varchar(16) null,
      refers_id int unsigned null,
      refers_project_id int unsigned null,
      once varchar(100) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key notes_once (once),
      key notes_noteable (noteable_type, noteable_id, id, is_system, author_id),
      key notes_commit (project_id, commit_id, id),
      key notes_author (author_id)
    )`

export const notes: Migration = {
  name: '0049-notes',
  up: [
    // Creates an empty table when the migration runs a second time.
    COMMENTS,
    // Texts that people write about issues, merge requests, snippets and commits, and the notes of the appliance about
    // their changes.
    NOTES,
    // The ids stay, because the activity feed refers to them.
    `insert ignore into notes (id, project_id, noteable_type, commit_id, author_id, note, path, line, line_type, created_at, updated_at)
      select id, project_id, 'Commit', sha, author_id, note, path, line, line_type, created_at, created_at from commit_comments`,
    'drop table if exists commit_comments',
    // Users who take part in an issue or merge request with a note, or because a text mentions them.
    `create table if not exists participants (
      target_type varchar(16) not null,
      target_id int unsigned not null,
      user_id int unsigned not null,
      primary key (target_type, target_id, user_id),
      key participants_user (user_id)
    )`,
    `create table if not exists award_emoji (
      id int unsigned not null auto_increment primary key,
      awardable_type varchar(16) not null,
      awardable_id int unsigned not null,
      name varchar(64) not null,
      user_id int unsigned not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key award_emoji_name (awardable_type, awardable_id, name, user_id),
      key award_emoji_user (user_id)
    )`
  ],
  down: [
    'drop table if exists award_emoji',
    'drop table if exists participants',
    NOTES,
    COMMENTS,
    `insert ignore into commit_comments (id, project_id, sha, author_id, note, path, line, line_type, created_at)
      select id, project_id, commit_id, author_id, note, path, line, line_type, created_at from notes
      where noteable_type = 'Commit' and not is_system`,
    'drop table if exists notes'
  ],
  carried: { notes: "noteable_type = 'Commit' and not is_system" }
}
