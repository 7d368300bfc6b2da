import type { Migration } from './migration.js'

// Indexes for the deletion of a user, whose cost grew with whole tables.
export const growingTables: Migration = {
  name: '0137-growing-tables',
  up: [
    'alter table builds add key builds_user (user_id)',
    'alter table pipelines add key pipelines_user (user_id)',
    'alter table ref_changes add key ref_changes_user (user_id)',
    'alter table issues add key issues_updated_by (updated_by_id)',
    'alter table notes add key notes_updated_by (updated_by_id)',
    `alter table merge_requests add key merge_requests_updated_by (updated_by_id),
      add key merge_requests_merge_user (merge_user_id)`,
    'alter table deployments add key deployments_user (user_id)',
    'alter table timelogs add key timelogs_user (user_id)',
    'alter table mails add key mails_author (author_id)',
    'alter table audit_events add key audit_events_actor_id (actor_id)'
  ],
  down: [
    'alter table audit_events drop key audit_events_actor_id',
    'alter table mails drop key mails_author',
    'alter table timelogs drop key timelogs_user',
    'alter table deployments drop key deployments_user',
    'alter table merge_requests drop key merge_requests_merge_user, drop key merge_requests_updated_by',
    'alter table notes drop key notes_updated_by',
    'alter table issues drop key issues_updated_by',
    'alter table ref_changes drop key ref_changes_user',
    'alter table pipelines drop key pipelines_user',
    'alter table builds drop key builds_user'
  ]
}
