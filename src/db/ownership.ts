// Says which rows belong to which owners, with one line for each table. Removal, deletion of users, backup and restore
// read it instead of lists of their own. test/db/ownership.test.ts compares it with the schema, and fails for a table
// or an id column that is missing here. A new table needs a line here and, if it belongs to a project or names a user,
// a row in test/helpers/owned-rows.ts.

import {
  deletedWith,
  erasedAfter,
  forgottenAfter,
  keptAfter,
  type Line,
  nulledWith,
  removedBefore
} from './ownership-terms.js'

export type { Condition, Fate, Line, Link, Owner, Restoring } from './ownership-terms.js'

const LINES = {
  // People.
  users: { others: ['theme_id', 'color_scheme_id'] },
  ssh_keys: { owners: [deletedWith('users', 'user_id')] },
  emails: { owners: [deletedWith('users', 'user_id')] },
  access_tokens: { owners: [deletedWith('users', 'user_id')], encrypted: ['encrypted'] },
  user_uses: { owners: [deletedWith('users', 'user_id')] },
  // A restored copy must not accept browsers that signed in to the original.
  sessions: { owners: [deletedWith('users', 'user_id')], backup: false },
  password_attempts: { backup: false },
  sign_ups: {},
  sign_in_addresses: { owners: [deletedWith('users', 'user_id')] },
  // An application that a user has registered goes with the user; what it may do for others goes with it.
  oauth_applications: { owners: [deletedWith('users', 'user_id')] },
  oauth_grants: {
    owners: [deletedWith('users', 'user_id'), deletedWith('oauth_applications', 'application_id')]
  },
  oauth_tokens: { owners: [deletedWith('oauth_grants', 'grant_id')] },
  identities: { owners: [deletedWith('users', 'user_id')] },
  namespaces: { owners: [deletedWith('users', 'owner_id', ['kind', 'user'])] },
  members: {
    owners: [
      deletedWith('users', 'user_id'),
      deletedWith('namespaces', 'source_id', ['source_type', 'namespace']),
      deletedWith('projects', 'source_id', ['source_type', 'project'])
    ]
  },
  access_requests: {
    owners: [
      deletedWith('users', 'user_id'),
      deletedWith('namespaces', 'source_id', ['source_type', 'namespace']),
      deletedWith('projects', 'source_id', ['source_type', 'project'])
    ]
  },

  // A project that is shared with a group.
  project_group_links: {
    owners: [deletedWith('projects', 'project_id'), deletedWith('namespaces', 'group_id')]
  },

  // Old paths. Those of a removed project may have other uses when it comes back.
  namespace_redirects: { owners: [deletedWith('namespaces', 'namespace_id')] },
  project_redirects: {
    owners: [deletedWith('projects', 'project_id'), deletedWith('namespaces', 'namespace_id')],
    restore: false
  },

  // Projects.
  projects: {
    owners: [removedBefore('namespaces', 'namespace_id'), nulledWith('users', 'creator_id')],
    encrypted: ['runners_token_encrypted'],
    // Nothing fills the repository of a restored project.
    restore: { empty: ['optimise_at', 'import_state', 'import_error'] }
  },
  // A key stays for its other projects when the user goes who added it. The key of a restored project may have gone or
  // have got other rights since.
  deploy_keys: { owners: [nulledWith('users', 'user_id')] },
  deploy_key_projects: {
    owners: [deletedWith('projects', 'project_id'), deletedWith('deploy_keys', 'deploy_key_id')],
    restore: false
  },
  project_stars: { owners: [deletedWith('users', 'user_id'), erasedAfter('projects', 'project_id')] },
  // The next look at the repository counts again.
  project_statistics: { owners: [deletedWith('projects', 'project_id')], restore: false },
  // Not specified: a restored project is no fork any more, because its source may have another one by now.
  forked_project_links: {
    owners: [deletedWith('projects', 'forked_to_project_id'), deletedWith('projects', 'forked_from_project_id')],
    restore: false
  },
  project_imports: {
    owners: [deletedWith('projects', 'project_id')],
    others: ['from_project_id'],
    encrypted: ['url_encrypted'],
    restore: false
  },
  // The row is written when the project is removed, and deleted at the end of that removal.
  project_removals: { owners: [keptAfter('projects', 'project_id')] },
  repository_upkeeps: { owners: [deletedWith('projects', 'project_id')], restore: false },

  // What belongs to branches, tags and commits.
  protected_branches: { owners: [deletedWith('projects', 'project_id')] },
  releases: { owners: [deletedWith('projects', 'project_id')] },

  // A merge request is part of the project that it wants to change. It stays when the fork goes from which it comes.
  merge_requests: {
    owners: [
      erasedAfter('projects', 'target_project_id'),
      keptAfter('projects', 'source_project_id'),
      erasedAfter('users', 'author_id'),
      nulledWith('users', 'assignee_id'),
      forgottenAfter('users', 'updated_by_id'),
      forgottenAfter('users', 'merge_user_id'),
      nulledWith('milestones', 'milestone_id')
    ]
  },
  merge_request_versions: { owners: [erasedAfter('merge_requests', 'merge_request_id')] },
  // The branch of a restored project does not move any more.
  merge_intents: {
    owners: [
      deletedWith('merge_requests', 'merge_request_id'),
      deletedWith('projects', 'target_project_id'),
      nulledWith('users', 'user_id')
    ],
    restore: false
  },
  // A snippet without a project is the user's own.
  snippets: { owners: [erasedAfter('projects', 'project_id'), erasedAfter('users', 'author_id')] },

  // Discussion. Readers look for the author, so that the notes and awards of a deleted user are gone at once.
  notes: {
    owners: [
      erasedAfter('projects', 'project_id'),
      erasedAfter('users', 'author_id'),
      forgottenAfter('users', 'updated_by_id'),
      deletedWith('issues', 'noteable_id', ['noteable_type', 'Issue']),
      deletedWith('merge_requests', 'noteable_id', ['noteable_type', 'MergeRequest']),
      deletedWith('snippets', 'noteable_id', ['noteable_type', 'Snippet'])
    ],
    others: ['commit_id', 'refers_id', 'refers_project_id']
  },
  award_emoji: {
    owners: [
      erasedAfter('users', 'user_id'),
      deletedWith('issues', 'awardable_id', ['awardable_type', 'Issue']),
      deletedWith('merge_requests', 'awardable_id', ['awardable_type', 'MergeRequest']),
      deletedWith('snippets', 'awardable_id', ['awardable_type', 'Snippet']),
      deletedWith('notes', 'awardable_id', ['awardable_type', 'Note'])
    ]
  },
  participants: {
    owners: [
      erasedAfter('users', 'user_id'),
      deletedWith('issues', 'target_id', ['target_type', 'Issue']),
      deletedWith('merge_requests', 'target_id', ['target_type', 'MergeRequest'])
    ]
  },
  // Lists look for the author, so that what a deleted user asked for is gone at once.
  todos: {
    owners: [
      erasedAfter('users', 'user_id'),
      erasedAfter('users', 'author_id'),
      erasedAfter('projects', 'project_id'),
      deletedWith('issues', 'target_id', ['target_type', 'Issue']),
      deletedWith('merge_requests', 'target_id', ['target_type', 'MergeRequest']),
      deletedWith('notes', 'note_id')
    ],
    others: ['commit_id']
  },

  // What doctor found. A restored copy is looked at anew.
  repository_checks: { owners: [deletedWith('projects', 'project_id')], backup: false, restore: false },
  doctor_marks: { backup: false },

  // CI.
  pipelines: {
    // Old ref changes are removed.
    owners: [
      erasedAfter('projects', 'project_id'),
      forgottenAfter('users', 'user_id'),
      keptAfter('ref_changes', 'ref_change_id')
    ]
  },
  builds: {
    owners: [
      erasedAfter('projects', 'project_id'),
      erasedAfter('pipelines', 'pipeline_id'),
      forgottenAfter('users', 'user_id'),
      // A build whose runner is gone shows none.
      keptAfter('runners', 'runner_id')
    ],
    others: ['process_id', 'environment_id'],
    restore: { empty: ['token_hash', 'spent_token_hash', 'process_id', 'lease_until'] }
  },
  // What a build has reported for later ones. It goes with its pipeline.
  reported_variables: {
    owners: [erasedAfter('pipelines', 'pipeline_id'), keptAfter('builds', 'build_id')],
    encrypted: ['variables_encrypted']
  },
  // The pipelines may be of two projects, of which one may be gone.
  downstream_pipelines: {
    owners: [
      erasedAfter('pipelines', 'upstream_pipeline_id'),
      keptAfter('pipelines', 'pipeline_id'),
      keptAfter('builds', 'build_id')
    ],
    others: ['root_pipeline_id'],
    restore: false
  },
  // The followed pipeline may be of another project, and may be gone.
  followed_pipelines: {
    owners: [
      erasedAfter('pipelines', 'pipeline_id'),
      keptAfter('pipelines', 'followed_pipeline_id'),
      keptAfter('builds', 'build_id')
    ],
    restore: false
  },
  // A restored pipeline is counted again when it changes: its unfinished builds are canceled by then.
  pipeline_stages: { owners: [erasedAfter('pipelines', 'pipeline_id')], restore: false },
  commit_statuses: {
    owners: [
      erasedAfter('projects', 'project_id'),
      erasedAfter('pipelines', 'pipeline_id'),
      forgottenAfter('users', 'user_id')
    ]
  },
  environments: { owners: [deletedWith('projects', 'project_id')] },
  deployments: {
    owners: [
      deletedWith('projects', 'project_id'),
      forgottenAfter('users', 'user_id'),
      // The builds of a removed project go later than its deployments.
      keptAfter('builds', 'build_id')
    ],
    others: ['environment_id']
  },
  services: { owners: [deletedWith('projects', 'project_id')], encrypted: ['properties_encrypted'] },
  triggers: { owners: [deletedWith('projects', 'project_id')], encrypted: ['token_encrypted'] },
  trigger_requests: {
    owners: [erasedAfter('pipelines', 'pipeline_id')],
    // It may name a trigger that is gone.
    others: ['trigger_id'],
    encrypted: ['variables_encrypted']
  },
  // A schedule makes pipelines in the name of its owner.
  pipeline_schedules: {
    owners: [deletedWith('projects', 'project_id'), deletedWith('users', 'user_id')],
    // It may name a pipeline that is gone.
    others: ['last_pipeline_id'],
    encrypted: ['variables_encrypted']
  },
  pipeline_requests: {
    owners: [erasedAfter('pipelines', 'pipeline_id')],
    // It may name a schedule that is gone.
    others: ['schedule_id'],
    encrypted: ['variables_encrypted']
  },
  variables: { owners: [deletedWith('projects', 'project_id')], encrypted: ['value_encrypted'] },
  runners: { encrypted: ['token_encrypted'] },
  runner_projects: { owners: [deletedWith('runners', 'runner_id'), deletedWith('projects', 'project_id')] },
  ref_changes: {
    owners: [erasedAfter('projects', 'project_id'), forgottenAfter('users', 'user_id')],
    others: ['old_id', 'new_id'],
    // No process would settle an open one.
    restore: { only: ['state', 'done'] }
  },

  // Planning. Issues go with their author, as the requirement says. Their assignee is joined, and nobody is shown who is gone.
  counters: { owners: [erasedAfter('projects', 'project_id')] },
  labels: { owners: [erasedAfter('projects', 'project_id'), deletedWith('namespaces', 'group_id')] },
  label_priorities: { owners: [erasedAfter('projects', 'project_id'), deletedWith('labels', 'label_id')] },
  label_links: {
    owners: [
      deletedWith('labels', 'label_id'),
      deletedWith('issues', 'target_id', ['target_type', 'Issue']),
      deletedWith('merge_requests', 'target_id', ['target_type', 'MergeRequest'])
    ]
  },
  milestones: { owners: [erasedAfter('projects', 'project_id')] },
  issues: {
    owners: [
      erasedAfter('projects', 'project_id'),
      deletedWith('users', 'author_id'),
      forgottenAfter('users', 'assignee_id'),
      forgottenAfter('users', 'updated_by_id'),
      nulledWith('milestones', 'milestone_id'),
      keptAfter('issues', 'moved_to_id')
    ]
  },
  issue_counts: { owners: [erasedAfter('projects', 'project_id')] },
  subscriptions: {
    owners: [
      deletedWith('users', 'user_id'),
      erasedAfter('projects', 'project_id'),
      deletedWith('issues', 'target_id', ['target_type', 'Issue']),
      deletedWith('merge_requests', 'target_id', ['target_type', 'MergeRequest']),
      deletedWith('labels', 'target_id', ['target_type', 'Label'])
    ]
  },
  // Whoever is no member keeps theirs: a public project is watched by many.
  notification_settings: {
    owners: [
      deletedWith('users', 'user_id'),
      deletedWith('namespaces', 'source_id', ['source_type', 'Group']),
      deletedWith('projects', 'source_id', ['source_type', 'Project'])
    ]
  },
  timelogs: {
    owners: [
      deletedWith('issues', 'target_id', ['target_type', 'Issue']),
      deletedWith('merge_requests', 'target_id', ['target_type', 'MergeRequest']),
      forgottenAfter('users', 'user_id')
    ]
  },
  boards: { owners: [erasedAfter('projects', 'project_id')] },
  board_lists: { owners: [deletedWith('boards', 'board_id'), deletedWith('labels', 'label_id')] },

  // The activity feed shows no entry whose project or author is removed.
  activity_events: {
    owners: [erasedAfter('projects', 'project_id'), erasedAfter('users', 'author_id')],
    others: ['happening_id', 'target_id', 'note_id']
  },

  // Hooks of projects and system hooks. Deliveries stay after their hook until old_deliveries removes them, because
  // they show what was sent.
  hooks: { owners: [deletedWith('projects', 'project_id')], encrypted: ['token_encrypted'] },
  hook_deliveries: { owners: [keptAfter('hooks', 'hook_id')] },
  hook_attempts: { owners: [deletedWith('hook_deliveries', 'delivery_id')] },

  // Mail. What waits for a deleted user is not sent: the worker looks for the user first. A restored project sends none again.
  mails: { owners: [erasedAfter('projects', 'project_id')], others: ['target_id'], restore: false },
  mail_deliveries: {
    owners: [erasedAfter('users', 'user_id'), deletedWith('mails', 'mail_id')],
    restore: false
  },
  mail_bounces: {},

  // The appliance.
  application_settings: { encrypted: ['runners_token_encrypted', 'id_token_key_encrypted'] },
  broadcast_messages: {},
  // The rows contain names next to the ids, because they stay when the author or the target of the change is removed.
  audit_events: { owners: [keptAfter('users', 'actor_id')], others: ['target_id'] },
  maintenance_runs: {},
  maintenance_locks: { backup: false },

  // The queue. Backups contain the jobs, so no accepted work is lost. The jobs of processes that are gone run again.
  jobs: { others: ['process_id'] },
  job_failures: { owners: [deletedWith('jobs', 'job_id')] },
  job_processes: { backup: false },
  job_totals: {},
  paused_queues: {},
  queue_minutes: { others: ['process_id'] },
  schedule_ticks: { backup: false }
} satisfies { readonly [table: string]: Line }

export type TableName = keyof typeof LINES

export const OWNERSHIP: Readonly<Record<TableName, Line>> = LINES

/** All tables, in the order of the lines above. */
export const TABLES = Object.keys(OWNERSHIP) as readonly TableName[]
