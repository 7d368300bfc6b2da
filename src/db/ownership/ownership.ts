// Declares which folder writes each table and which rows belong to which owners, with one line for each table. Removal,
// deletion of users, backup and restore read it instead of separate lists. test/db/ownership/ownership.test.ts compares
// it with the schema, and fails for a table or an id column that is missing here; writers.test.ts compares it with the
// statements in the sources. A new table needs a line here and, if it belongs to a project or refers to a user, a row
// in test/helpers/owned-rows.ts.

import { APPLIANCE_LINES } from './appliance-lines.js'
import {
  contribution,
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

/** The user who has, wants or gives access to a group or a project. */
const ACCESS = [
  deletedWith('users'),
  deletedWith('namespaces', 'source_id', ['source_type', 'namespace']),
  deletedWith('projects', 'source_id', ['source_type', 'project'])
]

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
  // The links of a restored copy belong to the original.
  invitations: { writer: 'reach/accounts', owners: ACCESS, restore: false },
  sign_in_addresses: { writer: 'people/credentials', owners: [deletedWith('users')] },
  // An application is deleted with the user who registered it, together with its grants and tokens.
  oauth_applications: { writer: 'people/credentials', owners: [deletedWith('users')] },
  oauth_grants: {
    writer: 'people/credentials',
    owners: [deletedWith('users'), deletedWith('oauth_applications', 'application_id')]
  },
  oauth_tokens: { writer: 'people/credentials', owners: [deletedWith('oauth_grants', 'grant_id')] },
  authenticator_apps: {
    writer: 'people/factors',
    owners: [deletedWith('users')],
    encrypted: ['secret_encrypted']
  },
  recovery_codes: { writer: 'people/factors', owners: [deletedWith('users')] },
  passkeys: { writer: 'people/factors', owners: [deletedWith('users')] },
  identities: { writer: 'people/users', owners: [deletedWith('users')] },
  scim_tokens: { writer: 'people/scim' },
  scim_users: { writer: 'people/scim', owners: [deletedWith('users')], others: ['external_id'] },
  scim_groups: { writer: 'people/scim', others: ['external_id'] },
  scim_group_members: { writer: 'people/scim', owners: [deletedWith('users'), deletedWith('scim_groups', 'group_id')] },
  namespaces: { writer: 'people', owners: [deletedWith('users', 'owner_id', ['kind', 'user'])] },
  members: { writer: 'people/members', owners: ACCESS },
  access_requests: { writer: 'people/members', owners: ACCESS },

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
  // Objects of git LFS, by the hash of their content: all projects share them. The objects of a project are its links.
  lfs_objects: { writer: 'projects/lfs' },
  lfs_links: { writer: 'projects/lfs', owners: [erasedAfter('projects')] },
  lfs_scans: { writer: 'projects/lfs', owners: [deletedWith('projects')], restore: false },
  lfs_sizes: { writer: 'projects/lfs', owners: [deletedWith('projects')], restore: false },
  // A lock would stay in the way of others after its user is gone.
  lfs_locks: { writer: 'projects/lfs', owners: [deletedWith('projects'), deletedWith('users')] },
  project_imports: {
    writer: 'projects/projects',
    owners: [deletedWith('projects')],
    others: ['from_project_id'],
    encrypted: ['url_encrypted'],
    restore: false
  },
  // The row is written when the project is removed, and deleted at the end of that removal.
  project_removals: { writer: 'upkeep', owners: [keptAfter('projects')] },
  // Copies of repositories that wait for their removal. A restored copy of the appliance does not have them.
  old_repositories: { writer: 'upkeep', owners: [keptAfter('projects')], backup: false },
  // A restored project is one that was changed here, which no migration replaces.
  migrations: { writer: 'migrate', encrypted: ['token_encrypted'] },
  migrated_projects: {
    writer: 'migrate/runs',
    owners: [deletedWith('projects')],
    others: ['migration_id'],
    restore: false
  },
  migrated_people: { writer: 'migrate/runs', owners: [deletedWith('users')] },
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
      contribution(erasedAfter('users', 'author_id')),
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
  snippets: {
    writer: 'projects/snippets',
    owners: [erasedAfter('projects'), contribution(erasedAfter('users', 'author_id'), 'project_id is not null')]
  },

  // Discussion. Readers join the author, so that the notes and awards of a deleted user disappear immediately.
  notes: {
    writer: 'planning/discussion',
    owners: [
      erasedAfter('projects'),
      contribution(erasedAfter('users', 'author_id')),
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
  // Old pipelines that have left the table above.
  archived_pipelines: { writer: 'ci/builds', owners: [erasedAfter('projects')] },
  // Parts of traces that grow. They are removed like the file of a trace (removeTrace). A restored project has the traces in files.
  trace_parts: { writer: 'ci/builds', owners: [keptAfter('builds')], restore: false },
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
  // Without its user, a mirror stays and stops. A restored one runs when somebody pushes or asks.
  mirrors: {
    writer: 'code/mirrors',
    owners: [deletedWith('projects'), nulledWith('users')],
    encrypted: ['secret_encrypted'],
    restore: { empty: ['due_at', 'run'] }
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
      contribution(deletedWith('users', 'author_id')),
      forgottenAfter('users', 'assignee_id'),
      forgottenAfter('users', 'updated_by_id'),
      nulledWith('milestones'),
      keptAfter('issues', 'moved_to_id')
    ]
  },
  // A task derives them from the texts, also after a restore.
  issue_words: { writer: 'planning/participation', owners: [deletedWith('issues')], backup: false, restore: false },
  merge_request_words: {
    writer: 'planning/participation',
    owners: [deletedWith('merge_requests')],
    backup: false,
    restore: false
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

  ...APPLIANCE_LINES
} satisfies { readonly [table: string]: Line }

export type TableName = keyof typeof LINES

export const OWNERSHIP: Readonly<Record<TableName, Line>> = LINES

/** All tables, in the order of the lines above. */
export const TABLES = Object.keys(OWNERSHIP) as readonly TableName[]
