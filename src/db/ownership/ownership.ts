// Declares which folder writes each table and which rows belong to which owners, with one line for each table. Removal,
// deletion of users, backup and restore read it instead of separate lists. test/db/ownership/ownership.test.ts compares
// it with the schema, and fails for a table or an id column that is missing here; writers.test.ts compares it with the
// statements in the sources. A new table needs a line here and, if it belongs to a project or refers to a user, a row
// in test/helpers/owned-rows.ts.

import {
  deletedWith,
  deletedWithAny,
  erasedAfter,
  forgottenAfter,
  keptAfter,
  type Line,
  nulledWith,
  removedBefore
} from './terms.js'

export type { Condition, Fate, Line, Link, Owner, Restoring } from './terms.js'

const LINES = {
  // People.
  users: { writer: 'people', others: ['theme_id', 'color_scheme_id'] },
  user_trigrams: { writer: 'db/lists', owners: [deletedWith('users')] },
  ssh_keys: { writer: 'people/users', owners: [deletedWith('users')] },
  emails: { writer: 'people/users', owners: [deletedWith('users')] },
  access_tokens: { writer: 'people', owners: [deletedWith('users')], encrypted: ['encrypted'] },
  user_uses: { writer: 'people/credentials', owners: [deletedWith('users')] },
  // A restored copy must not accept browsers that signed in to the original.
  sessions: { writer: 'people', owners: [deletedWith('users')], backup: false },
  password_attempts: { writer: 'people/credentials', backup: false },
  sign_ups: { writer: 'reach/accounts' },
  sign_in_addresses: { writer: 'people/credentials', owners: [deletedWith('users')] },
  // An application is deleted with the user who registered it, together with its grants and tokens.
  oauth_applications: { writer: 'people/credentials', owners: [deletedWith('users')] },
  oauth_grants: {
    writer: 'people/credentials',
    owners: [deletedWith('users'), deletedWith('oauth_applications', 'application_id')]
  },
  oauth_tokens: { writer: 'people/credentials', owners: [deletedWith('oauth_grants', 'grant_id')] },
  identities: { writer: 'people/users', owners: [deletedWith('users')] },
  namespaces: { writer: 'people', owners: [deletedWith('users', 'owner_id', ['kind', 'user'])] },
  members: {
    writer: 'people/members',
    owners: [
      deletedWith('users'),
      deletedWith('namespaces', 'source_id', ['source_type', 'namespace']),
      deletedWith('projects', 'source_id', ['source_type', 'project'])
    ]
  },
  access_requests: {
    writer: 'people/members',
    owners: [
      deletedWith('users'),
      deletedWith('namespaces', 'source_id', ['source_type', 'namespace']),
      deletedWith('projects', 'source_id', ['source_type', 'project'])
    ]
  },

  // Projects that are shared with groups.
  project_group_links: {
    writer: 'projects/project-groups',
    owners: [deletedWith('projects'), deletedWith('namespaces', 'group_id')]
  },

  // Old paths. The paths of a removed project may be in use when it is restored.
  namespace_redirects: { writer: 'ground/paths', owners: [deletedWith('namespaces')] },
  project_redirects: {
    writer: 'ground/paths',
    owners: [deletedWith('projects'), deletedWith('namespaces')],
    restore: false
  },

  // Projects.
  projects: {
    writer: 'projects',
    owners: [removedBefore('namespaces'), nulledWith('users', 'creator_id')],
    encrypted: ['runners_token_encrypted'],
    // A restored project starts without maintenance and import state: nothing fills its repository.
    restore: { empty: ['optimise_at', 'import_state', 'import_error'] }
  },
  // A key stays for its other projects when the user who added it is deleted. The key of a restored project may have
  // been deleted, or may have other rights by then.
  deploy_keys: { writer: 'projects/ssh', owners: [nulledWith('users')] },
  deploy_key_projects: {
    writer: 'projects/ssh',
    owners: [deletedWith('projects'), deletedWith('deploy_keys')],
    restore: false
  },
  // The restore of a project derives them from its texts, because older backups do not have them.
  project_trigrams: { writer: 'db/lists', owners: [deletedWith('projects')], restore: false },
  project_stars: { writer: 'projects/projects', owners: [deletedWith('users'), erasedAfter('projects')] },
  // The next measurement of the repository counts again.
  project_statistics: { writer: 'projects', owners: [deletedWith('projects')], restore: false },
  // Not specified: a restored project is no longer a fork, because its source may have another fork by now.
  forked_project_links: {
    writer: 'projects/projects',
    owners: [deletedWith('projects', 'forked_to_project_id'), deletedWith('projects', 'forked_from_project_id')],
    restore: false
  },
  project_imports: {
    writer: 'projects/projects',
    owners: [deletedWith('projects')],
    others: ['from_project_id'],
    encrypted: ['url_encrypted'],
    restore: false
  },
  // The row is written when the project is removed, and deleted at the end of that removal.
  project_removals: { writer: 'upkeep', owners: [keptAfter('projects')] },
  repository_upkeeps: { writer: 'code/repository', owners: [deletedWith('projects')], restore: false },

  // Records of branches, tags and commits.
  protected_branches: { writer: 'projects/projects', owners: [deletedWith('projects')] },
  releases: { writer: 'code/refs', owners: [deletedWith('projects')] },

  // A merge request belongs to its target project. It stays when the fork that it comes from is removed.
  merge_requests: {
    writer: 'planning',
    owners: [
      erasedAfter('projects', 'target_project_id'),
      keptAfter('projects', 'source_project_id'),
      erasedAfter('users', 'author_id'),
      nulledWith('users', 'assignee_id'),
      forgottenAfter('users', 'updated_by_id'),
      forgottenAfter('users', 'merge_user_id'),
      nulledWith('milestones')
    ]
  },
  merge_request_versions: { writer: 'planning/merge-requests', owners: [erasedAfter('merge_requests')] },
  // The branch of a restored project is not merged any more.
  merge_intents: {
    writer: 'planning/merge-requests',
    owners: [deletedWith('merge_requests'), deletedWith('projects', 'target_project_id'), nulledWith('users')],
    restore: false
  },
  // A snippet without a project belongs to its author.
  snippets: { writer: 'projects/snippets', owners: [erasedAfter('projects'), erasedAfter('users', 'author_id')] },

  // Discussion. Readers join the author, so that the notes and awards of a deleted user disappear immediately.
  notes: {
    writer: 'planning/discussion',
    owners: [
      erasedAfter('projects'),
      erasedAfter('users', 'author_id'),
      forgottenAfter('users', 'updated_by_id'),
      ...deletedWithAny('noteable', ['issues', 'merge_requests', 'snippets'])
    ],
    others: ['commit_id', 'refers_id', 'refers_project_id']
  },
  award_emoji: {
    writer: 'planning/discussion',
    owners: [erasedAfter('users'), ...deletedWithAny('awardable', ['issues', 'merge_requests', 'snippets', 'notes'])]
  },
  participants: {
    writer: 'planning/discussion',
    owners: [erasedAfter('users'), ...deletedWithAny('target', ['issues', 'merge_requests'])]
  },
  // Lists join the author, so that the to-dos that a deleted user caused disappear immediately.
  todos: {
    writer: 'reach/todos',
    owners: [
      erasedAfter('users'),
      erasedAfter('users', 'author_id'),
      erasedAfter('projects'),
      ...deletedWithAny('target', ['issues', 'merge_requests']),
      deletedWith('notes')
    ],
    others: ['commit_id']
  },

  // The findings of doctor. A restored copy is checked again.
  repository_checks: { writer: 'code/repository', owners: [deletedWith('projects')], backup: false, restore: false },
  doctor_marks: { writer: 'ci/builds', backup: false },

  // CI.
  pipelines: {
    writer: 'ci',
    // Old ref changes are removed.
    owners: [erasedAfter('projects'), forgottenAfter('users'), keptAfter('ref_changes')]
  },
  builds: {
    writer: 'ci',
    owners: [
      erasedAfter('projects'),
      erasedAfter('pipelines'),
      forgottenAfter('users'),
      // A build whose runner is deleted shows no runner.
      keptAfter('runners')
    ],
    others: ['process_id', 'environment_id'],
    encrypted: ['trace_tail_encrypted'],
    restore: { empty: ['token_hash', 'spent_token_hash', 'process_id', 'lease_until', 'trace_tail_encrypted'] }
  },
  // Variables that a build has reported for later builds. They are deleted with its pipeline.
  reported_variables: {
    writer: 'ci/builds',
    owners: [erasedAfter('pipelines'), keptAfter('builds')],
    encrypted: ['variables_encrypted']
  },
  // The pipelines may belong to two projects, one of which may be removed.
  downstream_pipelines: {
    writer: 'ci/runners',
    owners: [erasedAfter('pipelines', 'upstream_pipeline_id'), keptAfter('pipelines'), keptAfter('builds')],
    others: ['root_pipeline_id'],
    restore: false
  },
  // The followed pipeline may belong to another project, and may be removed.
  followed_pipelines: {
    writer: 'ci/runners',
    owners: [erasedAfter('pipelines'), keptAfter('pipelines', 'followed_pipeline_id'), keptAfter('builds')],
    restore: false
  },
  // A restored pipeline is counted again when it changes: by then its unfinished builds are canceled.
  pipeline_stages: { writer: 'ci/pipelines', owners: [erasedAfter('pipelines')], restore: false },
  commit_statuses: {
    writer: 'ci/pipelines',
    owners: [erasedAfter('projects'), erasedAfter('pipelines'), forgottenAfter('users')]
  },
  environments: { writer: 'ci/environments', owners: [deletedWith('projects')] },
  deployments: {
    writer: 'ci/environments',
    owners: [
      deletedWith('projects'),
      forgottenAfter('users'),
      // The builds of a removed project are deleted later than its deployments.
      keptAfter('builds')
    ],
    others: ['environment_id']
  },
  services: { writer: 'projects/services', owners: [deletedWith('projects')], encrypted: ['properties_encrypted'] },
  triggers: { writer: 'ci/pipelines', owners: [deletedWith('projects')], encrypted: ['token_encrypted'] },
  trigger_requests: {
    writer: 'ci/pipelines',
    owners: [erasedAfter('pipelines')],
    // It may name a trigger that is deleted.
    others: ['trigger_id'],
    encrypted: ['variables_encrypted']
  },
  // A schedule creates pipelines in the name of its owner.
  pipeline_schedules: {
    writer: 'ci/pipelines',
    owners: [deletedWith('projects'), deletedWith('users')],
    // It may name a pipeline that is deleted.
    others: ['last_pipeline_id'],
    encrypted: ['variables_encrypted']
  },
  pipeline_requests: {
    writer: 'ci/pipelines',
    owners: [erasedAfter('pipelines')],
    // It may name a schedule that is deleted.
    others: ['schedule_id'],
    encrypted: ['variables_encrypted']
  },
  variables: { writer: 'ci/variables', owners: [deletedWith('projects')], encrypted: ['value_encrypted'] },
  runners: { writer: 'ci/runners', encrypted: ['token_encrypted'] },
  runner_projects: { writer: 'ci/runners', owners: [deletedWith('runners'), deletedWith('projects')] },
  ref_changes: {
    writer: 'code/refs',
    owners: [erasedAfter('projects'), forgottenAfter('users')],
    others: ['old_id', 'new_id'],
    // No process would settle a change that is still open.
    restore: { only: ['state', 'done'] }
  },

  // Planning. Issues are deleted with their author, as the requirement specifies. Their assignee is joined, and a
  // deleted user is not shown.
  counters: { writer: 'db/connect', owners: [erasedAfter('projects')] },
  labels: { writer: 'planning/labels', owners: [erasedAfter('projects'), deletedWith('namespaces', 'group_id')] },
  label_priorities: { writer: 'planning/labels', owners: [erasedAfter('projects'), deletedWith('labels')] },
  label_links: {
    writer: 'planning/labels',
    owners: [deletedWith('labels'), ...deletedWithAny('target', ['issues', 'merge_requests'])]
  },
  milestones: { writer: 'planning/milestones', owners: [erasedAfter('projects')] },
  issues: {
    writer: 'planning',
    owners: [
      erasedAfter('projects'),
      deletedWith('users', 'author_id'),
      forgottenAfter('users', 'assignee_id'),
      forgottenAfter('users', 'updated_by_id'),
      nulledWith('milestones'),
      keptAfter('issues', 'moved_to_id')
    ]
  },
  // Kept answers are compared with it, so it must never become smaller. It is the version of all projects, too.
  content_versions: { writer: 'db/connect', owners: [keptAfter('projects')], backup: false, restore: false },
  issue_counts: { writer: 'planning/issues', owners: [erasedAfter('projects')] },
  subscriptions: {
    writer: 'planning/participation',
    owners: [
      deletedWith('users'),
      erasedAfter('projects'),
      ...deletedWithAny('target', ['issues', 'merge_requests', 'labels'])
    ]
  },
  // The settings of users who are not members stay: many users watch a public project.
  notification_settings: {
    writer: 'reach/notifications',
    owners: [
      deletedWith('users'),
      deletedWith('namespaces', 'source_id', ['source_type', 'Group']),
      deletedWith('projects', 'source_id', ['source_type', 'Project'])
    ]
  },
  timelogs: {
    writer: 'planning/participation',
    owners: [...deletedWithAny('target', ['issues', 'merge_requests']), forgottenAfter('users')]
  },
  boards: { writer: 'planning/boards', owners: [erasedAfter('projects')] },
  board_lists: { writer: 'planning/boards', owners: [deletedWith('boards'), deletedWith('labels')] },

  // The activity feed shows no entry whose project or author is removed.
  activity_events: {
    writer: 'reach/events',
    owners: [erasedAfter('projects'), erasedAfter('users', 'author_id')],
    others: ['happening_id', 'target_id', 'note_id']
  },

  // Hooks of projects and system hooks. Deliveries stay after their hook until old_deliveries removes them, because
  // they show what was sent.
  hooks: { writer: 'ground/hooks', owners: [deletedWith('projects')], encrypted: ['token_encrypted'] },
  hook_deliveries: { writer: 'ground/hooks', owners: [keptAfter('hooks')] },
  hook_attempts: { writer: 'ground/hooks', owners: [deletedWith('hook_deliveries', 'delivery_id')] },

  // Mail. Pending mail to a deleted user is not sent: the worker looks up the user first. A restored project does not
  // send mail again.
  mails: {
    writer: 'reach/mail',
    owners: [erasedAfter('projects'), forgottenAfter('users', 'author_id')],
    others: ['target_id'],
    restore: false
  },
  mail_deliveries: { writer: 'reach/mail', owners: [erasedAfter('users'), deletedWith('mails')], restore: false },
  mail_bounces: { writer: 'reach/mail' },
  received_mails: { writer: 'reach/replies' },

  // The appliance.
  application_settings: { writer: 'ground/settings', encrypted: ['runners_token_encrypted', 'id_token_key_encrypted'] },
  broadcast_messages: { writer: 'reach/broadcasts' },
  // The rows contain names as well as ids, because they stay when the author or the target of the change is removed.
  audit_events: { writer: 'ground/audit', owners: [keptAfter('users', 'actor_id')], others: ['target_id'] },
  maintenance_runs: { writer: 'upkeep/maintenance' },
  sent_forms: { writer: 'ground/forms', backup: false },
  maintenance_locks: { writer: 'upkeep/maintenance', backup: false },

  // The queue. Backups contain the jobs, so no accepted work is lost. The jobs of processes that have ended run again.
  jobs: { writer: 'queue', others: ['process_id'] },
  job_failures: { writer: 'queue', owners: [deletedWith('jobs')] },
  job_processes: { writer: 'queue', backup: false },
  machines: { writer: 'queue', backup: false },
  job_totals: { writer: 'queue' },
  paused_queues: { writer: 'queue' },
  queue_minutes: { writer: 'queue', others: ['process_id'] },
  schedule_ticks: { writer: 'queue', backup: false }
} satisfies { readonly [table: string]: Line }

export type TableName = keyof typeof LINES

export const OWNERSHIP: Readonly<Record<TableName, Line>> = LINES

/** All tables, in the order of the lines above. */
export const TABLES = Object.keys(OWNERSHIP) as readonly TableName[]
