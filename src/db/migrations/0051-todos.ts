import type { Migration } from './migration.js'

export const todos: Migration = {
  name: '0051-todos',
  up: [
    // `is_pending` is null for a finished to-do, so that a user has at most one pending to-do for each target. A target
    // is an issue or merge request, by `target_id`, or a commit of the project. `cause` is the event, which causes at
    // most one to-do for each user.
    `create table if not exists todos (
      id int unsigned not null auto_increment primary key,
      user_id int unsigned not null,
      author_id int unsigned not null,
      project_id int unsigned not null,
      target_type varchar(16) not null,
      target_id int unsigned null,
      commit_id char(40) null,
      note_id int unsigned null,
      action varchar(20) not null,
      state varchar(8) not null default 'pending',
      is_pending boolean as (if(state = 'pending', true, null)) stored,
      cause varchar(36) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key todos_pending (user_id, target_type, target_id, is_pending),
      unique key todos_pending_commit (user_id, project_id, commit_id, is_pending),
      unique key todos_cause (cause, user_id),
      key todos_list (user_id, state, id),
      key todos_target (target_type, target_id),
      key todos_note (note_id),
      key todos_project (project_id),
      key todos_author (author_id)
    )`
  ],
  down: ['drop table if exists todos']
}
