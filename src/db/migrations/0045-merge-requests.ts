import type { Migration } from './migration.js'

export const mergeRequests: Migration = {
  name: '0045-merge-requests',
  up: [
    // Lists filter by `phase`: `opened` includes reopened ones, and `deleted` ones are in no list. `is_open` is 1 or
    // null, so that two branches have at most one open merge request.
    `create table if not exists merge_requests (
      id int unsigned not null auto_increment primary key,
      iid int unsigned not null,
      target_project_id int unsigned not null,
      source_project_id int unsigned not null,
      target_branch varchar(255) not null,
      source_branch varchar(255) not null,
      title varchar(255) not null,
      description mediumtext null,
      state varchar(8) not null default 'opened',
      is_open boolean as (if(deleted_at is null and state in ('opened', 'reopened'), true, null)) stored,
      phase varchar(8) as (case when deleted_at is not null then 'deleted' when state = 'reopened' then 'opened'
        else state end) stored,
      merge_status varchar(16) not null default 'unchecked',
      author_id int unsigned not null,
      assignee_id int unsigned null,
      milestone_id int unsigned null,
      updated_by_id int unsigned null,
      head_sha char(40) null,
      merge_commit_sha char(40) null,
      merge_error varchar(255) null,
      merge_when_build_succeeds boolean not null default false,
      merge_user_id int unsigned null,
      merge_message mediumtext null,
      should_remove_source_branch boolean null,
      force_remove_source_branch boolean null,
      time_estimate int unsigned not null default 0,
      total_time_spent int unsigned not null default 0,
      lock_version int unsigned not null default 0,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      deleted_at datetime(3) null,
      unique key merge_requests_iid (target_project_id, iid),
      unique key merge_requests_open (source_project_id, source_branch, target_project_id, target_branch, is_open),
      key merge_requests_created (target_project_id, deleted_at, created_at, id),
      key merge_requests_updated (target_project_id, deleted_at, updated_at, id),
      key merge_requests_phase_created (target_project_id, phase, created_at, id),
      key merge_requests_phase_updated (target_project_id, phase, updated_at, id),
      key merge_requests_target (target_project_id, target_branch, phase),
      key merge_requests_source (source_project_id, source_branch, phase),
      key merge_requests_author (author_id, created_at, id),
      key merge_requests_assignee (assignee_id),
      key merge_requests_milestone (milestone_id)
    )`,
    // One row for each push to the source branch while the merge request was open.
    `create table if not exists merge_request_versions (
      id int unsigned not null auto_increment primary key,
      merge_request_id int unsigned not null,
      head_sha char(40) not null,
      base_sha char(40) null,
      start_sha char(40) null,
      state varchar(40) not null,
      real_size varchar(16) not null,
      created_at datetime(3) not null,
      key merge_request_versions_of (merge_request_id, id)
    )`,
    // The plan of a merge. The row is written before the branch moves: any process that sees that the branch has moved
    // does the rest.
    `create table if not exists merge_intents (
      merge_request_id int unsigned not null,
      commit_sha char(40) not null,
      target_project_id int unsigned not null,
      user_id int unsigned null,
      remove_source_branch boolean not null,
      created_at datetime(3) not null,
      primary key (merge_request_id, commit_sha),
      key merge_intents_commit (target_project_id, commit_sha),
      key merge_intents_user (user_id),
      key merge_intents_age (created_at)
    )`
  ],
  down: [
    'drop table if exists merge_intents',
    'drop table if exists merge_request_versions',
    'drop table if exists merge_requests'
  ]
}
