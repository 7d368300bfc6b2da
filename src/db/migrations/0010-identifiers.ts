import type { Migration } from './migration.js'

const TABLES = `users identities access_tokens sessions namespaces projects members ref_changes jobs job_processes
  job_totals paused_queues schedule_ticks pipelines builds hook_deliveries hook_attempts ssh_keys emails
  application_settings broadcast_messages audit_events maintenance_runs maintenance_locks repository_upkeeps
  project_removals queue_minutes job_failures project_group_links hooks activity_events runners runner_projects
  pipeline_stages`.split(/\s+/)

// MariaDB runs the text of the first comment, MySQL the text of the second.
const EXACT = 'character set utf8mb4 collate /*M! utf8mb4_nopad_bin */ /*!80017 utf8mb4_0900_bin */'
const OLD = 'character set utf8mb4 collate utf8mb4_unicode_ci'
const PROSE = 'varchar(255) character set utf8mb4 collate utf8mb4_unicode_520_ci not null'

/** The text that is compared when the case of a name does not matter. The database writes it, so no statement can forget it. */
const key = (column: string) => `add column ${column}_key varchar(255) ${EXACT} as (lower(${column})) stored`

/** Values that are equal in the older schema but different in this one. If there are any, the insert fails before anything has changed. */
const REFUSE_COLLISIONS = [
  'drop table if exists rollback_check',
  `create table rollback_check (
     about varchar(16) not null, place int unsigned not null, text varchar(255) not null,
     unique key same_for_the_older_version (about, place, text)
   ) ${OLD}`,
  `insert into rollback_check (about, place, text)
     select 'username', 0, username from users union all select 'email', 0, email from users
     union all select 'other email', 0, email from emails union all select 'path', 0, path from namespaces
     union all select 'project path', namespace_id, path from projects
     union all select 'project name', namespace_id, name from projects`,
  'drop table if exists rollback_check'
]

export const identifiers: Migration = {
  name: '0010-identifiers',
  up: [
    // Tables and columns of later migrations are exact unless they specify otherwise.
    `alter database ${EXACT}`,
    ...TABLES.map(table => `alter table ${table} convert to ${EXACT}`),
    // Texts that people write, read and sort by.
    `alter table users modify name ${PROSE}`,
    `alter table namespaces modify name ${PROSE}`,
    `alter table projects modify name ${PROSE}`,
    `alter table users ${key('username')}, ${key('email')},
      drop key users_username, add unique key users_username (username_key),
      drop key users_email, add unique key users_email (email_key)`,
    `alter table emails ${key('email')}, drop key emails_email, add unique key emails_email (email_key)`,
    `alter table namespaces ${key('path')}, drop key namespaces_path, add unique key namespaces_path (path_key)`,
    `alter table projects ${key('path')}, ${key('name')},
      drop key projects_path, add unique key projects_path (namespace_id, path_key),
      drop key projects_name, add unique key projects_name (namespace_id, name_key),
      drop key projects_by_path, add key projects_by_path (archived, path_key, id)`
  ],
  // The older version ignores the case of names only in its own collation. It works with all other columns unchanged.
  down: [
    ...REFUSE_COLLISIONS,
    `alter table users drop key users_username, drop column username_key, add unique key users_username (username),
      drop key users_email, drop column email_key, add unique key users_email (email)`,
    'alter table emails drop key emails_email, drop column email_key, add unique key emails_email (email)',
    'alter table namespaces drop key namespaces_path, drop column path_key, add unique key namespaces_path (path)',
    `alter table projects
      drop key projects_path, drop key projects_by_path, drop column path_key,
      add unique key projects_path (namespace_id, path), add key projects_by_path (archived, path, id),
      drop key projects_name, drop column name_key, add unique key projects_name (namespace_id, name)`,
    ...['users', 'emails', 'namespaces', 'projects'].map(table => `alter table ${table} convert to ${OLD}`),
    `alter database ${OLD}`
  ]
}
