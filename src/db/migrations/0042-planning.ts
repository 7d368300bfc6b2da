import type { Migration } from './migration.js'

export const planning: Migration = {
  name: '0042-planning',
  up: [
    // The last number that an issue, a milestone or a merge request of a project has received (counters.ts).
    `create table if not exists counters (
      project_id int unsigned not null,
      kind varchar(16) not null,
      last int unsigned not null,
      primary key (project_id, kind)
    )`,
    // A label belongs to a project or to a group: the other column is null.
    `create table if not exists labels (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned null,
      group_id int unsigned null,
      title varchar(255) not null,
      color varchar(7) not null,
      description varchar(255) null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key labels_project (project_id, title),
      unique key labels_group (group_id, title),
      key labels_title (title)
    )`,
    `create table if not exists label_priorities (
      project_id int unsigned not null,
      label_id int unsigned not null,
      priority int unsigned not null,
      primary key (project_id, label_id),
      key label_priorities_label (label_id)
    )`,
    `create table if not exists label_links (
      target_type varchar(16) not null,
      target_id int unsigned not null,
      label_id int unsigned not null,
      primary key (target_type, target_id, label_id),
      key label_links_label (label_id, target_type, target_id)
    )`,
    `create table if not exists milestones (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      iid int unsigned not null,
      title varchar(255) not null,
      description mediumtext null,
      start_date date null,
      due_date date null,
      state varchar(8) not null default 'active',
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key milestones_iid (project_id, iid),
      unique key milestones_title (project_id, title),
      key milestones_name (title)
    )`,
    `create table if not exists issues (
      id int unsigned not null auto_increment primary key,
      project_id int unsigned not null,
      iid int unsigned not null,
      title varchar(255) not null,
      description mediumtext null,
      state varchar(8) not null default 'opened',
      is_open boolean generated always as (state <> 'closed') stored,
      confidential boolean not null default false,
      author_id int unsigned not null,
      assignee_id int unsigned null,
      milestone_id int unsigned null,
      due_date date null,
      updated_by_id int unsigned null,
      moved_to_id int unsigned null,
      time_estimate int unsigned not null default 0,
      total_time_spent int unsigned not null default 0,
      lock_version int unsigned not null default 0,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      unique key issues_iid (project_id, iid),
      key issues_created (project_id, created_at, id, confidential),
      key issues_updated (project_id, updated_at, id, confidential),
      key issues_open_created (project_id, is_open, created_at, id, confidential),
      key issues_open_updated (project_id, is_open, updated_at, id, confidential),
      key issues_author (author_id, created_at, id),
      key issues_assignee (assignee_id, confidential),
      key issues_milestone (milestone_id, created_at, id)
    )`,
    // The number of issues of a project, as the sum of several rows: concurrent writers usually change different rows,
    // and nobody waits for the row of the project.
    `create table if not exists issue_counts (
      project_id int unsigned not null,
      slot tinyint unsigned not null,
      opened int not null default 0,
      closed int not null default 0,
      opened_confidential int not null default 0,
      closed_confidential int not null default 0,
      primary key (project_id, slot)
    )`,
    'alter table projects drop column open_issues_count',
    `create table if not exists subscriptions (
      target_type varchar(16) not null,
      target_id int unsigned not null,
      project_id int unsigned not null,
      user_id int unsigned not null,
      subscribed boolean not null,
      created_at datetime(3) not null,
      updated_at datetime(3) not null,
      primary key (target_type, target_id, project_id, user_id),
      key subscriptions_user (user_id),
      key subscriptions_project (project_id)
    )`,
    `create table if not exists timelogs (
      id int unsigned not null auto_increment primary key,
      target_type varchar(16) not null,
      target_id int unsigned not null,
      user_id int unsigned null,
      time_spent int not null,
      created_at datetime(3) not null,
      key timelogs_target (target_type, target_id)
    )`
  ],
  down: [
    ...['timelogs', 'subscriptions', 'issue_counts', 'issues', 'milestones', 'label_links'].map(
      table => `drop table if exists ${table}`
    ),
    ...['label_priorities', 'labels', 'counters'].map(table => `drop table if exists ${table}`),
    'alter table projects add column open_issues_count int unsigned not null default 0'
  ]
}
