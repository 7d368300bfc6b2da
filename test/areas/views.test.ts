// No view throws on stored data, and the schema of each route can serialise its response, because one odd record must not hide a
// list. Every view of every area has a line here, with the extreme values of each column; a view without a line fails.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Fastify from 'fastify'
import { actorOf, nobody } from '../../src/access/actor.js'
import type { BuildRow } from '../../src/areas/ci/builds/builds.queries.js'
import * as builds from '../../src/areas/ci/builds/builds.view.js'
import type { WatchedBuildDetails } from '../../src/areas/ci/builds/dashboard-builds.queries.js'
import type { DeploymentRow } from '../../src/areas/ci/environments/deployments.queries.js'
import * as deployments from '../../src/areas/ci/environments/deployments.view.js'
import * as environments from '../../src/areas/ci/environments/environments.view.js'
import type { PipelineRow } from '../../src/areas/ci/pipelines/pipelines.queries.js'
import * as pipelines from '../../src/areas/ci/pipelines/pipelines.view.js'
import type { CommitStatusRow } from '../../src/areas/ci/pipelines/statuses/commit-statuses.queries.js'
import * as commitStatuses from '../../src/areas/ci/pipelines/statuses/commit-statuses.view.js'
import * as triggers from '../../src/areas/ci/pipelines/triggers.view.js'
import type { ProjectOfRunner, RunnerRecord } from '../../src/areas/ci/runners/runner-records.queries.js'
import * as runners from '../../src/areas/ci/runners/runners.view.js'
import * as templateFiles from '../../src/areas/ci/templates/files.view.js'
import * as licenses from '../../src/areas/ci/templates/licenses.view.js'
import * as variables from '../../src/areas/ci/variables/variables.view.js'
import * as history from '../../src/areas/code/history/history.view.js'
import type { MirrorRow } from '../../src/areas/code/mirrors/mirrors.queries.js'
import * as mirrors from '../../src/areas/code/mirrors/mirrors.view.js'
import * as branches from '../../src/areas/code/refs/branches.view.js'
import * as refCommit from '../../src/areas/code/refs/ref-commit.view.js'
import type { ReleaseRow } from '../../src/areas/code/refs/tags/tags.view.js'
import * as tags from '../../src/areas/code/refs/tags/tags.view.js'
import * as repository from '../../src/areas/code/repository/repository.view.js'
import * as audit from '../../src/areas/ground/audit/audit.view.js'
import type { AttemptRow, DeliveryDetailsRow } from '../../src/areas/ground/hooks/deliveries.queries.js'
import * as deliveries from '../../src/areas/ground/hooks/deliveries.view.js'
import type { FailingHook } from '../../src/areas/ground/hooks/failing.queries.js'
import * as hooks from '../../src/areas/ground/hooks/hooks.view.js'
import * as projectHooks from '../../src/areas/ground/hooks/project-hooks.view.js'
import { defaultSettings } from '../../src/areas/ground/settings/settings.table.js'
import * as settings from '../../src/areas/ground/settings/settings.view.js'
import * as migrations from '../../src/areas/migrate/migrations/migrations.view.js'
import { type Migration, type MigrationRow, STATES, WORKS } from '../../src/areas/migrate/runs/migrations.js'
import type { Placeholder } from '../../src/areas/migrate/runs/placeholders.js'
import type { ApplicationRow } from '../../src/areas/people/credentials/oauth-applications.queries.js'
import * as applications from '../../src/areas/people/credentials/oauth-applications.view.js'
import type { TokenRow } from '../../src/areas/people/credentials/tokens.queries.js'
import * as tokens from '../../src/areas/people/credentials/tokens.view.js'
import type { GroupRecord } from '../../src/areas/people/groups/groups.queries.js'
import * as groups from '../../src/areas/people/groups/groups.view.js'
import type { NamespaceRow } from '../../src/areas/people/groups/namespaces.queries.js'
import * as namespaces from '../../src/areas/people/groups/namespaces.view.js'
import type { AccessRequestRow } from '../../src/areas/people/members/access-requests.queries.js'
import * as accessRequests from '../../src/areas/people/members/access-requests.view.js'
import type { MemberRow } from '../../src/areas/people/members/members.queries.js'
import * as members from '../../src/areas/people/members/members.view.js'
import type { ScimToken } from '../../src/areas/people/scim/scim-tokens.js'
import * as scimTokens from '../../src/areas/people/scim/scim-tokens.record.js'
import * as emails from '../../src/areas/people/users/emails.view.js'
import type { OwnedKeyRow } from '../../src/areas/people/users/keys.queries.js'
import * as keys from '../../src/areas/people/users/keys.view.js'
import type { UserRow } from '../../src/areas/people/users/users.queries.js'
import * as people from '../../src/areas/people/users/users.record.js'
import * as users from '../../src/areas/people/users/users.view.js'
import type { BoardListRow } from '../../src/areas/planning/boards/boards.queries.js'
import * as boards from '../../src/areas/planning/boards/boards.view.js'
import type { AwardRow } from '../../src/areas/planning/discussion/awards.queries.js'
import * as awards from '../../src/areas/planning/discussion/awards.view.js'
import type { CommitCommentRow } from '../../src/areas/planning/discussion/comments/commit-comments.queries.js'
import * as commitComments from '../../src/areas/planning/discussion/comments/commit-comments.view.js'
import type { NoteRow } from '../../src/areas/planning/discussion/notes.queries.js'
import * as notes from '../../src/areas/planning/discussion/notes.view.js'
import type { IssueRow } from '../../src/areas/planning/issues/issues.queries.js'
import * as issues from '../../src/areas/planning/issues/issues.view.js'
import * as labels from '../../src/areas/planning/labels/labels.view.js'
import type { MergeRequestRow } from '../../src/areas/planning/merge-requests/merge-requests.queries.js'
import * as mergeRequests from '../../src/areas/planning/merge-requests/merge-requests.view.js'
import type { VersionRow } from '../../src/areas/planning/merge-requests/versions/versions.queries.js'
import * as versions from '../../src/areas/planning/merge-requests/versions/versions.view.js'
import type { MilestoneRow } from '../../src/areas/planning/milestones/milestones.queries.js'
import * as milestones from '../../src/areas/planning/milestones/milestones.view.js'
import * as timeTracking from '../../src/areas/planning/participation/time-tracking.view.js'
import * as forks from '../../src/areas/projects/imports/forks.view.js'
import type { ShareLink } from '../../src/areas/projects/project-groups/shares.js'
import * as shares from '../../src/areas/projects/project-groups/shares.view.js'
import type { ForkLink } from '../../src/areas/projects/projects/fork-links.js'
import { NOTHING_READ } from '../../src/areas/projects/projects/project-readings.js'
import type { ShownProjectRow } from '../../src/areas/projects/projects/projects.queries.js'
import * as projects from '../../src/areas/projects/projects/projects.view.js'
import { SLUGS } from '../../src/areas/projects/services/kinds.js'
import * as services from '../../src/areas/projects/services/services.view.js'
import type { SnippetRow } from '../../src/areas/projects/snippets/snippets.queries.js'
import * as snippets from '../../src/areas/projects/snippets/snippets.view.js'
import type { DeployKeyLink } from '../../src/areas/projects/ssh/deploy-keys.js'
import type { ListedDeployKeyRow } from '../../src/areas/projects/ssh/deploy-keys.queries.js'
import * as deployKeys from '../../src/areas/projects/ssh/deploy-keys.view.js'
import * as uploads from '../../src/areas/projects/uploads/uploads.view.js'
import * as broadcasts from '../../src/areas/reach/broadcasts/broadcasts.view.js'
import type { EventRow } from '../../src/areas/reach/events/events.queries.js'
import * as events from '../../src/areas/reach/events/events.view.js'
import type { MailRow } from '../../src/areas/reach/mail/mail-queue.queries.js'
import { LEVELS } from '../../src/areas/reach/notifications/levels.js'
import * as notifications from '../../src/areas/reach/notifications/settings.view.js'
import type { TodoRow } from '../../src/areas/reach/todos/todos.queries.js'
import * as todos from '../../src/areas/reach/todos/todos.view.js'
import * as watched from '../../src/areas/upkeep/jobs/dashboard-builds.view.js'
import * as overview from '../../src/areas/upkeep/jobs/job-overview.view.js'
import * as jobs from '../../src/areas/upkeep/jobs/jobs.view.js'
import type { RunRow } from '../../src/areas/upkeep/maintenance/maintenance.queries.js'
import * as maintenance from '../../src/areas/upkeep/maintenance/maintenance.view.js'
import { root } from '../../src/config.js'
import type { Hook } from '../../src/db/models/index.js'
import type { Contributor } from '../../src/git/history/contributors.js'
import type { Patch } from '../../src/git/history/patches.js'
import { parseCommit } from '../../src/git/objects/parse.js'
import { parseTree } from '../../src/git/objects/tree-object.js'
import { type TSchema, Type } from '../../src/lib/type.js'
import type { QueuesOverview } from '../../src/queue/overview.js'
import { encrypt } from '../../src/secrets.js'
import { testDatabase } from '../helpers/database.js'
import t from '../helpers/tap.js'

await testDatabase()

/** The extreme values of each column. */
type Columns<Row> = { readonly [Name in keyof Row]-?: readonly Row[Name][] }

const ID = [1, 4_294_967_295, 2 ** 53 - 1]
const COUNT = [0, 1, 2 ** 53 - 1, -1]
const FLAG = [0, 1]
/** Most rows have the second value, so the long one comes last. */
const TEXT = ['', '\0\u0001"\\</script>\u2028', '\ud800 half', '😀', 'x\r\ny', 'é'.repeat(70_000)]
const DATE = ['2026-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'].map(text => new Date(text))
const or = <T>(values: readonly T[]) => [null, ...values]
const JSON_OBJECT = ['{}', '{"a": {"b": [1, null]}}', '', '{"cut": "in the mid', 'null']
const JSON_LIST = ['[]', '', '["cut']

/** Rows in which each column in turn has each of its values, and rows in which all columns are extreme. */
function* rowsOf<Row>(columns: Columns<Row>): Generator<Row> {
  const names = Object.keys(columns) as (keyof Row)[]
  const most = Math.max(...names.map(name => columns[name].length))
  const at = (pick: (name: keyof Row) => number) =>
    Object.fromEntries(names.map(name => [name, columns[name][pick(name) % columns[name].length]])) as Row
  for (let turn = 0; turn < most; turn++) yield at(() => turn)
  for (const name of names) {
    for (let turn = 0; turn < columns[name].length; turn++) yield at(other => (other === name ? turn : 1))
  }
}

/** The rows in which all columns are extreme, for lists inside other records. */
const someRows = <Row>(columns: Columns<Row>): Row[] => [...rowsOf(columns)].slice(0, 6)

function* mapped<A, B>(values: Iterable<A>, change: (value: A) => B): Generator<B> {
  for (const value of values) yield change(value)
}

const person: Columns<UserRow> = {
  id: ID,
  username: TEXT,
  name: TEXT,
  email: TEXT,
  state: ['active', 'blocked'],
  admin: FLAG,
  external: FLAG,
  bio: or(TEXT),
  location: or(TEXT),
  messenger: TEXT,
  professional_network: TEXT,
  microblog: TEXT,
  website_url: TEXT,
  organization: TEXT,
  projects_limit: COUNT,
  can_create_group: FLAG,
  theme_id: COUNT,
  color_scheme_id: COUNT,
  two_factor_at: or(DATE),
  confirmed_at: or(DATE),
  last_sign_in_at: or(DATE),
  current_sign_in_at: or(DATE),
  created_at: DATE,
  identities: [[], [{ provider: 'x', extern_uid: 'y' }]]
}

const joined = {
  user_id: ID,
  user_name: TEXT,
  user_username: TEXT,
  user_state: ['active', 'blocked'] as const
}
const fullJoined = {
  ...joined,
  user_created_at: DATE,
  user_admin: FLAG,
  user_bio: or(TEXT),
  user_location: or(TEXT),
  user_messenger: TEXT,
  user_professional_network: TEXT,
  user_microblog: TEXT,
  user_website_url: TEXT,
  user_organization: TEXT
}

const STATUSES = ['created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped']

const pipeline = {
  ...joined,
  id: ID,
  status: STATUSES,
  ref: TEXT,
  sha: TEXT,
  before_sha: TEXT,
  tag: FLAG,
  yaml_errors: or(TEXT),
  created_at: DATE,
  updated_at: DATE,
  started_at: or(DATE),
  finished_at: or(DATE),
  committed_at: or(DATE),
  duration: or([0, 0.5, 1e15, -1]),
  coverage: or([0, 66.666, 1e15])
} as unknown as Columns<PipelineRow>

const build = {
  ...fullJoined,
  id: ID,
  name: TEXT,
  stage: TEXT,
  ref: TEXT,
  tag: FLAG,
  sha: TEXT,
  status: STATUSES,
  coverage: or([0, 99.99, 1e9]),
  attempt: COUNT,
  created_at: DATE,
  started_at: or(DATE),
  finished_at: or(DATE),
  artifacts_filename: or(TEXT),
  artifacts_size: or(COUNT),
  artifacts_sha256: or([Buffer.alloc(32)]),
  artifacts_attempt: or(COUNT),
  artifacts_expire_at: or(DATE),
  erased_at: or(DATE),
  pipeline_id: ID,
  pipeline_ref: TEXT,
  pipeline_sha: TEXT,
  pipeline_status: STATUSES,
  runner_id: or(ID),
  runner_description: or(TEXT),
  runner_active: or(FLAG),
  runner_is_shared: or(FLAG),
  runner_name: or(TEXT)
} as unknown as Columns<BuildRow>

const deployment = {
  id: ID,
  iid: ID,
  ref: TEXT,
  sha: TEXT,
  created_at: DATE,
  build_id: ID,
  environment_id: ID,
  environment_name: TEXT,
  environment_url: or(TEXT),
  user_id: ID,
  user_name: TEXT,
  user_username: TEXT,
  user_state: TEXT
} as unknown as Columns<DeploymentRow>

const project: Columns<ShownProjectRow> = {
  id: ID,
  name: TEXT,
  path: TEXT,
  description: or(TEXT),
  default_branch: or(TEXT),
  storage: TEXT,
  visibility_level: [0, 10, 20],
  archived: FLAG,
  issues_enabled: FLAG,
  merge_requests_enabled: FLAG,
  builds_enabled: FLAG,
  wiki_enabled: FLAG,
  snippets_enabled: FLAG,
  container_registry_enabled: FLAG,
  lfs_enabled: FLAG,
  shared_runners_enabled: FLAG,
  public_builds: FLAG,
  request_access_enabled: FLAG,
  only_allow_merge_if_build_succeeds: FLAG,
  only_allow_merge_if_all_discussions_are_resolved: FLAG,
  tag_list: [...JSON_LIST, '["a", "b"]'],
  star_count: COUNT,
  forks_count: COUNT,
  open_issues: ['0 0', '3 1', '1 1'],
  creator_id: or(ID),
  // Bytes of another key, and no bytes at all.
  runners_token_encrypted: [Buffer.alloc(0), Buffer.alloc(48, 7)],
  import_state: or(['waiting', 'failed'] as const),
  import_error: or(TEXT),
  is_fork: FLAG,
  has_shares: FLAG,
  last_activity_at: DATE,
  created_at: DATE,
  namespace_id: ID,
  namespace_kind: ['user', 'group'],
  namespace_name: TEXT,
  namespace_path: TEXT,
  namespace_owner_id: or(ID),
  namespace_description: TEXT,
  avatar: or(TEXT),
  namespace_avatar: or(TEXT),
  namespace_share_with_group_lock: FLAG,
  namespace_visibility_level: [0, 10, 20],
  namespace_created_at: DATE,
  namespace_updated_at: DATE,
  owner_name: or(TEXT),
  owner_username: or(TEXT),
  owner_state: or(['active', 'blocked']),
  owner_created_at: or(DATE),
  access_level: or([10, 40, 50]),
  project_access_level: or([10, 40, 50]),
  project_notification_level: or(COUNT),
  group_access_level: or([10, 40, 50]),
  group_notification_level: or(COUNT)
}

const migrationRow: Columns<MigrationRow> = {
  id: ID,
  name: TEXT,
  kind: TEXT,
  url: TEXT,
  settings: JSON_OBJECT,
  token_encrypted: [Buffer.alloc(0)],
  machine: or(TEXT),
  machine_name: or(TEXT),
  state: STATES,
  work: or(WORKS),
  options: or([...JSON_OBJECT, '{"projects": ["a/b"]}']),
  turn: COUNT,
  progress: or(TEXT),
  error: or(TEXT),
  requested_at: or(DATE),
  started_at: or(DATE),
  ended_at: or(DATE),
  result_of: or(WORKS),
  result_at: or(DATE),
  is_busy: FLAG,
  created_at: DATE
}

const migration: Columns<Migration> = {
  id: ID,
  name: TEXT,
  kind: TEXT,
  url: TEXT,
  map: [{}, { a: 'b' }],
  people: [{}, { a: 'b' }],
  rate: COUNT,
  keys: [true, false],
  comments: [true, false],
  trust: [true, false],
  folder: TEXT,
  row: someRows(migrationRow),
  created_at: TEXT
}

const delivery: Columns<DeliveryDetailsRow> = {
  id: ID,
  hook_id: ID,
  event_key: [...TEXT, 'redelivery:1:x'],
  event: TEXT,
  state: ['pending', 'delivered', 'dead'] as unknown as DeliveryDetailsRow['state'][],
  attempts: COUNT,
  created_at: DATE,
  finished_at: or(DATE),
  last_started_at: or(DATE),
  last_duration_ms: or(COUNT),
  last_status: or([100, 599, 99_999]),
  last_error: or(TEXT),
  payload: JSON_OBJECT
}

const runnerRecord: Columns<RunnerRecord> = {
  id: ID,
  description: TEXT,
  active: FLAG,
  is_shared: FLAG,
  run_untagged: FLAG,
  locked: FLAG,
  built_in: or([1]),
  tag_list: ['[]', '["a", "é"]'],
  name: or(TEXT),
  version: or(TEXT),
  revision: or(TEXT),
  platform: or(TEXT),
  architecture: or(TEXT),
  contacted_at: or(DATE),
  token_encrypted: or([Buffer.alloc(0), Buffer.alloc(48, 7)])
}

const runnerProject: Columns<ProjectOfRunner> = {
  id: ID,
  name: TEXT,
  path: TEXT,
  namespace_name: TEXT,
  namespace_path: TEXT
}

const attempt: Columns<AttemptRow> = {
  attempt: COUNT,
  started_at: DATE,
  duration_ms: COUNT,
  status: or([100, 599]),
  error: or(TEXT),
  request_headers: ['{}', '{"x-gitstead-token": "secret"}', '{"cut', ''],
  response_headers: ['{}', '{"a": "b"}', '{"cut'],
  response_body: TEXT
}

const job: Columns<Parameters<typeof jobs.viewJob>[0]> = {
  id: ID,
  queue: ['default', 'hooks'],
  name: TEXT,
  payload: JSON_OBJECT,
  state: ['ready', 'delayed', 'running', 'dead'],
  attempts: COUNT,
  crashes: COUNT,
  process_id: or(ID),
  run_at: DATE,
  started_at: or(DATE),
  error: or(TEXT),
  created_at: DATE
}

const hook = {
  id: ID,
  url: TEXT,
  createdAt: DATE,
  updatedAt: DATE,
  pushEvents: [true, false],
  tagPushEvents: [true, false],
  noteEvents: [true, false],
  issuesEvents: [true, false],
  mergeRequestsEvents: [true, false],
  buildEvents: [true, false],
  pipelineEvents: [true, false],
  wikiPageEvents: [true, false],
  enableSslVerification: [true, false],
  tokenEncrypted: [null, Buffer.alloc(48)]
} as unknown as Columns<Hook>

const token: Columns<TokenRow> = {
  id: ID,
  user_id: ID,
  username: TEXT,
  name: TEXT,
  scopes: ['', 'api', 'api read_user', ' '],
  created_at: DATE,
  last_used_at: or(DATE),
  expires_at: or(DATE),
  revoked_at: or(DATE)
}

const scimToken: Columns<ScimToken> = {
  id: ID,
  name: TEXT,
  created_at: DATE,
  last_used_at: or(DATE),
  expires_at: or(DATE),
  revoked_at: or(DATE)
}

const application: Columns<ApplicationRow> = {
  id: ID,
  uid: TEXT,
  name: TEXT,
  redirect_uris: TEXT,
  scopes: ['', 'api', 'api read_user', ' '],
  confidential: FLAG,
  user_id: or(ID),
  username: or(TEXT),
  created_at: DATE
}

const deployKey: Columns<ListedDeployKeyRow> = {
  id: ID,
  user_id: or(ID),
  title: TEXT,
  public_key: TEXT,
  fingerprint: TEXT,
  can_push: FLAG,
  is_public: FLAG,
  created_at: DATE,
  last_used_at: or(DATE),
  projects: or(TEXT)
}

const key: Columns<OwnedKeyRow> = {
  id: ID,
  user_id: ID,
  title: TEXT,
  public_key: TEXT,
  fingerprint: TEXT,
  created_at: DATE,
  last_used_at: or(DATE),
  username: TEXT
}

const auditEvent: Columns<Parameters<typeof audit.viewAuditEvent>[0]> = {
  id: ID,
  created_at: DATE,
  actor_id: or(ID),
  actor_name: TEXT,
  acting_as: or(TEXT),
  via: TEXT,
  address: or(TEXT),
  action: TEXT,
  target_type: TEXT,
  target_id: TEXT,
  target_name: TEXT,
  changes: JSON_OBJECT
}

const run: Columns<RunRow> = {
  id: ID,
  task: TEXT,
  cause: ['schedule', 'command'],
  dry_run: FLAG,
  hostname: TEXT,
  pid: ID,
  state: ['running', 'done', 'failed'],
  started_at: DATE,
  finished_at: or(DATE),
  count: COUNT,
  report: ['{"notes": []}', '', '{"notes": ["cut'],
  error: or(TEXT)
}

const failingHook: Columns<FailingHook> = {
  id: ID,
  url: TEXT,
  project: or(TEXT),
  failures: COUNT,
  since: or(DATE),
  next_try_at: or(DATE),
  pending: COUNT,
  dead: COUNT,
  event: or(TEXT),
  status: or([100, 599, 99_999]),
  error: or(TEXT)
}

const troubledMail: Columns<MailRow> = {
  id: ID,
  kind: TEXT,
  address: TEXT,
  reason: TEXT,
  state: ['waiting', 'failed'],
  attempts: COUNT,
  error: or(TEXT),
  created_at: DATE,
  tried_at: or(DATE),
  sent_at: or(DATE)
}

const watchedBuild: Columns<WatchedBuildDetails> = {
  id: ID,
  project_id: ID,
  project: or(TEXT),
  name: TEXT,
  stage: TEXT,
  ref: TEXT,
  status: TEXT,
  created_at: DATE,
  started_at: or(DATE),
  finished_at: or(DATE),
  hostname: or(TEXT),
  pid: or(ID),
  runner: or(TEXT),
  attempt: COUNT,
  failure_reason: or(TEXT),
  exit_code: or(COUNT),
  erased_at: or(DATE)
}

const queues: Columns<Parameters<typeof overview.viewJobOverview>[0]> = {
  at: DATE,
  queues: [
    [],
    [
      {
        name: 'default',
        paused: true,
        ready: 2 ** 53 - 1,
        delayed: 0,
        running: 0,
        dead: 0,
        latency: 1e12,
        processed_per_minute: 1 / 3,
        failed_per_minute: 0,
        minutes: DATE.map(minute => ({ minute, processed: 0, failed: 0 }))
      }
    ]
  ],
  processes: [[]],
  failures: or(JSON_OBJECT).map(payload => [
    {
      id: 1,
      queue: 'default',
      name: TEXT[2] as string,
      state: 'dead',
      attempts: 1,
      run_at: DATE[1] as Date,
      failed_at: DATE[2] as Date,
      error: TEXT[1] as string,
      payload
    }
  ]) as QueuesOverview['failures'][],
  totals: [{ processed: 2 ** 53 - 1, failed: 0, ready: 0, delayed: 0, running: 0, dead: 0 }],
  builds: [[]],
  hooks: [[], someRows(failingHook)],
  mail: [{ waiting: 2 ** 53 - 1, held: 0, failed: 0, bounced: 0, troubled: someRows(troubledMail) }]
}

/** Commits with data that anyone could push. */
function* commits() {
  const bytes = Buffer.from([0xff, 0xfe, 0x80, 0xc3])
  for (const seconds of ['-1', '0', '253402300800', '9'.repeat(300), '', 'x', '1e999']) {
    for (const name of ['', 'é', '\ud83d\ude00'.repeat(500), '<<<>>>', ' ', bytes.toString('latin1')]) {
      const who = `${name} <${name}> ${seconds} +0000`
      const head = Buffer.from(`tree \nauthor ${who}\ncommitter ${who}\nencoding ${name || 'none'}\n\n`)
      yield parseCommit('a'.repeat(40), Buffer.concat([head, bytes, Buffer.alloc(200_000, bytes)]))
    }
  }
  for (const raw of ['', '\n\n', 'tree', 'author\n\nx', 'parent \nparent x\n\n'])
    yield parseCommit('', Buffer.from(raw))
}

const entries = parseTree(
  Buffer.concat(
    ['100644 x', '40000 ', '160000 \xff', '7777777 odd', '100644 \n"\\', `120000 ${'n'.repeat(70_000)}`].map(line =>
      Buffer.concat([Buffer.from(`${line}\0`, 'latin1'), Buffer.alloc(20, 255)])
    )
  )
).map(entry => ({ ...entry, path: `folder/${entry.name}` }))

const patch = {
  oldPath: TEXT,
  newPath: TEXT,
  oldMode: ['0', '100644'],
  newMode: ['0', '120000'],
  oldId: ['0'.repeat(40), 'a'.repeat(40)],
  newId: ['0'.repeat(40), 'b'.repeat(40)],
  status: ['A', 'D', 'M', 'R', 'T'],
  text: TEXT,
  isTooLarge: [true, false]
} satisfies Columns<Patch>
const contributor = {
  email: TEXT,
  name: TEXT,
  commits: ID,
  additions: [0, 2 ** 53 - 1],
  deletions: [0]
} satisfies Columns<Contributor>

const master = actorOf({ id: 1, admin: true, external: false } as Parameters<typeof actorOf>[0], 'private')
const [anyone] = [...rowsOf(person)]
const Anything = Type.Unknown()

interface Specimen {
  readonly schema: TSchema
  readonly views: () => Iterable<unknown>
}

const of = <Row>(schema: TSchema, columns: Columns<Row>, view: (row: Row) => unknown): Specimen => ({
  schema,
  views: () => mapped(rowsOf(columns), view)
})

const SHARE = { group_id: 1, group_name: '\ud800', group_access: 30, visibility_level: 0 }
const SOURCE = { id: 1, name: '\ud800', path: 'a', namespace_name: '"', namespace_path: 'b' }
const COUNTED = {
  commit_count: 2 ** 53 - 1,
  repository_size: 0,
  build_artifacts_size: 2 ** 53 - 1,
  lfs_objects_size: 1
}

const share: Columns<ShareLink> = {
  id: ID,
  project_id: ID,
  group_id: ID,
  group_access: COUNT,
  expires_at: or(TEXT)
}

const forkLink: Columns<ForkLink> = {
  id: ID,
  forked_to_project_id: ID,
  forked_from_project_id: ID,
  created_at: DATE,
  updated_at: DATE
}

const event: Columns<EventRow> = {
  id: ID,
  project_id: ID,
  author_id: ID,
  action: TEXT,
  target_type: or(TEXT),
  target_id: or(ID),
  target_title: or(TEXT),
  data: or(JSON_OBJECT),
  created_at: DATE,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked']
}

const group: Columns<GroupRecord> = {
  id: ID,
  name: TEXT,
  path: TEXT,
  description: TEXT,
  avatar: or(TEXT),
  visibility_level: COUNT,
  share_with_group_lock: FLAG,
  request_access_enabled: FLAG,
  lfs_enabled: FLAG,
  created_at: DATE,
  updated_at: DATE
}

const member: Columns<MemberRow> = {
  id: ID,
  user_id: ID,
  access_level: COUNT,
  expires_at: or(['2027-01-31', '0000-00-00']),
  created_at: DATE,
  updated_at: DATE,
  name: TEXT,
  username: TEXT,
  state: ['active', 'blocked'],
  email: TEXT
}

const accessRequest: Columns<AccessRequestRow> = {
  id: ID,
  user_id: ID,
  requested_at: DATE,
  name: TEXT,
  username: TEXT,
  state: ['active', 'blocked'],
  created_at: DATE
}

const commitComment: Columns<CommitCommentRow> = {
  id: ID,
  project_id: ID,
  sha: TEXT,
  author_id: ID,
  note: TEXT,
  path: or(TEXT),
  line: or(COUNT),
  line_type: or(['new', 'old']),
  created_at: DATE,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked']
}
/** The stored values of every group, with the largest possible values. */
const STORED = {
  get: (id: number) => ({ group_id: id, repository_size: 2 ** 52, build_artifacts_size: 2 ** 52 - 1 })
} as Parameters<typeof groups.withStatistics>[0]

const milestone: Columns<MilestoneRow> = {
  id: ID,
  iid: ID,
  project_id: ID,
  title: TEXT,
  description: or(TEXT),
  state: ['active', 'closed'],
  start_date: or(['2027-01-31', '0001-01-01']),
  due_date: or(['2027-01-31', '9999-12-31']),
  created_at: DATE,
  updated_at: DATE
}

const issue: Columns<IssueRow> = {
  id: ID,
  iid: ID,
  project_id: ID,
  title: TEXT,
  description: or(TEXT),
  state: ['opened', 'closed', 'reopened'],
  confidential: FLAG,
  author_id: ID,
  assignee_id: or(ID),
  milestone_id: or(ID),
  due_date: or(['2027-01-31']),
  updated_by_id: or(ID),
  moved_to_id: or(ID),
  time_estimate: COUNT,
  total_time_spent: COUNT,
  lock_version: COUNT,
  created_at: DATE,
  updated_at: DATE,
  project_path: TEXT,
  namespace_path: TEXT,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked'],
  assignee_name: or(TEXT),
  assignee_username: or(TEXT),
  assignee_state: or(['active', 'blocked'])
}

const boardList: Columns<BoardListRow> = {
  id: ID,
  position: COUNT,
  label_id: ID,
  label_title: TEXT,
  label_color: TEXT,
  label_description: or(TEXT)
}

const mergeRequest: Columns<MergeRequestRow> = {
  id: ID,
  iid: ID,
  target_project_id: ID,
  source_project_id: ID,
  target_branch: TEXT,
  source_branch: TEXT,
  title: TEXT,
  description: or(TEXT),
  state: ['opened', 'reopened', 'closed', 'merged'],
  merge_status: ['unchecked', 'can_be_merged', 'cannot_be_merged'],
  head_sha: or(TEXT),
  merge_commit_sha: or(TEXT),
  merge_error: or(TEXT),
  merge_when_build_succeeds: FLAG,
  merge_user_id: or(ID),
  merge_message: or(TEXT),
  should_remove_source_branch: or(FLAG),
  force_remove_source_branch: or(FLAG),
  milestone_id: or(ID),
  updated_by_id: or(ID),
  time_estimate: COUNT,
  total_time_spent: COUNT,
  lock_version: COUNT,
  created_at: DATE,
  updated_at: DATE,
  author_id: ID,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked'],
  assignee_id: or(ID),
  assignee_name: or(TEXT),
  assignee_username: or(TEXT),
  assignee_state: or(['active', 'blocked']),
  project_path: TEXT,
  namespace_path: TEXT
}

const version: Columns<VersionRow> = {
  id: ID,
  merge_request_id: ID,
  head_sha: TEXT,
  base_sha: or(TEXT),
  start_sha: or(TEXT),
  state: TEXT,
  real_size: TEXT,
  created_at: DATE
}

const READ_BESIDE = {
  labels: ['a', '\ud800'],
  subscribed: true,
  counts: { user_notes_count: 1, upvotes: 2, downvotes: 3 }
}

const note: Columns<NoteRow> = {
  id: ID,
  project_id: ID,
  noteable_type: ['Issue', 'Commit'],
  noteable_id: or(ID),
  note: TEXT,
  is_system: FLAG,
  refers_type: or(['Issue']),
  refers_id: or(ID),
  refers_project_id: or(ID),
  path: or(TEXT),
  line: or(ID),
  line_type: or(['new', 'old']),
  created_at: DATE,
  updated_at: DATE,
  author_id: ID,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked']
}

const award: Columns<AwardRow> = {
  id: ID,
  name: TEXT,
  awardable_type: ['Issue', 'Note'],
  awardable_id: ID,
  created_at: DATE,
  updated_at: DATE,
  user_id: ID,
  user_name: TEXT,
  user_username: TEXT,
  user_state: ['active', 'blocked']
}

const todo: Columns<TodoRow> = {
  id: ID,
  project_id: ID,
  target_type: ['Issue', 'MergeRequest', 'Commit'],
  target_id: or(ID),
  commit_id: or(TEXT),
  note_id: or(ID),
  action: ['assigned', 'mentioned', 'build_failed', 'marked'],
  state: ['pending', 'done'],
  created_at: DATE,
  author_id: ID,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked'],
  project_name: TEXT,
  project_path: TEXT,
  storage: TEXT,
  namespace_name: TEXT,
  namespace_path: TEXT,
  note: or(TEXT),
  project_version: or(COUNT),
  all_version: or(COUNT)
}

const snippet: Columns<SnippetRow> = {
  id: ID,
  project_id: or(ID),
  title: TEXT,
  file_name: TEXT,
  visibility_level: [0, 20],
  created_at: DATE,
  updated_at: DATE,
  author_id: ID,
  author_name: TEXT,
  author_username: TEXT,
  author_state: ['active', 'blocked']
}

const variable = {
  id: ID,
  name: TEXT,
  value_encrypted: TEXT.map(encrypt),
  masked: [null, 0, 1, 2],
  protected: [0, 1],
  environment_scope: TEXT
}

const specimens: { readonly [view: string]: Specimen } = {
  viewAuditEvent: of(audit.AuditEvent, auditEvent, audit.viewAuditEvent),
  viewBroadcast: of(
    broadcasts.Broadcast,
    { id: ID, message: TEXT, starts_at: DATE, ends_at: DATE, color: TEXT, font: TEXT },
    row => broadcasts.viewBroadcast(row)
  ),
  viewBuild: {
    schema: builds.Build,
    views: function* () {
      for (const row of rowsOf(build)) yield builds.viewBuild({ build: row, commit: null })
      for (const commit of commits()) yield builds.viewBuild({ build: [...rowsOf(build)][0] as BuildRow, commit })
      yield builds.viewBuild({ build: { ...([...rowsOf(build)][0] as BuildRow), ...GONE }, commit: null })
    }
  },
  viewLabel: of(
    labels.Label,
    {
      id: ID,
      project_id: or(ID),
      title: TEXT,
      color: TEXT,
      description: or(TEXT),
      priority: or(COUNT)
    },
    row =>
      labels.viewLabel({
        label: row,
        counts: { open_issues_count: 2 ** 53 - 1, closed_issues_count: 0, open_merge_requests_count: 1 },
        subscribed: false
      })
  ),
  viewBoardList: of(boards.BoardList, boardList, boards.viewBoardList),
  viewBoard: {
    schema: boards.Board,
    views: () => [[], someRows(boardList)].map(lists => boards.viewBoard({ id: 1, lists }))
  },
  viewMilestone: of(milestones.Milestone, milestone, milestones.viewMilestone),
  viewIssue: {
    schema: issues.Issue,
    views: function* () {
      for (const row of rowsOf(issue)) yield issues.viewIssue({ issue: row, milestone: undefined, ...READ_BESIDE })
      const [first] = [...rowsOf(issue)]
      for (const row of someRows(milestone)) {
        if (first) yield issues.viewIssue({ issue: first, milestone: row, ...READ_BESIDE })
      }
    }
  },
  viewMergeRequest: {
    schema: mergeRequests.MergeRequest,
    views: function* () {
      for (const row of rowsOf(mergeRequest)) {
        yield mergeRequests.viewMergeRequest({ mergeRequest: row, milestone: undefined, ...READ_BESIDE })
      }
    }
  },
  viewMergeRequestChanges: {
    schema: mergeRequests.MergeRequestChanges,
    views: function* () {
      const patches = [...rowsOf(patch)]
      for (const row of someRows(mergeRequest)) {
        const reading = { mergeRequest: row, milestone: undefined, ...READ_BESIDE }
        yield mergeRequests.viewMergeRequestChanges(reading, patches)
      }
    }
  },
  viewVersion: of(versions.Version, version, versions.viewVersion),
  viewVersionDetail: {
    schema: versions.VersionDetail,
    views: function* () {
      const changes = { commits: [...commits()], patches: [...rowsOf(patch)], isCut: false }
      for (const row of someRows(version)) yield versions.viewVersionDetail(row, changes)
    }
  },
  viewTimeStats: of(
    timeTracking.TimeStats,
    { time_estimate: COUNT, total_time_spent: COUNT },
    timeTracking.viewTimeStats
  ),
  viewEnvironment: of(environments.Environment, { id: ID, name: TEXT, slug: TEXT, external_url: or(TEXT) }, row =>
    environments.viewEnvironment(row, projects.viewProject([...rowsOf(project)][0] as ShownProjectRow, master))
  ),
  viewEnvironmentFor: {
    schema: environments.Environment,
    views: () => {
      const [row] = [...rowsOf(project)] as ShownProjectRow[]
      if (!row) return []
      const view = environments.viewEnvironmentFor(row, nobody, NOTHING_READ)
      return [view({ id: 1, name: '', slug: '', external_url: null })]
    }
  },
  viewNotificationSetting: {
    schema: notifications.NotificationSetting,
    views: function* () {
      for (const level of LEVELS) yield notifications.viewNotificationSetting({ level, events: new Set(['new_note']) })
    }
  },
  viewGlobalNotificationSetting: {
    schema: notifications.GlobalNotificationSetting,
    views: function* () {
      for (const level of LEVELS) {
        yield notifications.viewGlobalNotificationSetting({ level, events: new Set(), email: 'ada@example.org' })
      }
    }
  },
  viewNote: of(notes.Note, note, notes.viewNote),
  viewAward: of(awards.Award, award, awards.viewAward),
  viewTodo: {
    schema: todos.Todo,
    views: function* () {
      const others = { milestone: undefined, ...READ_BESIDE }
      const [[anIssue], [aMergeRequest], [aCommit]] = [[...rowsOf(issue)], [...rowsOf(mergeRequest)], [...commits()]]
      for (const row of rowsOf(todo)) {
        if (anIssue) yield todos.viewTodo({ todo: row, issue: { issue: anIssue, ...others } })
        if (aMergeRequest) yield todos.viewTodo({ todo: row, mergeRequest: { mergeRequest: aMergeRequest, ...others } })
        if (aCommit) yield todos.viewTodo({ todo: row, commit: aCommit })
      }
    }
  },
  viewUnread: of(todos.Todo, todo, row => todos.viewUnread(row, 'a'.repeat(40))),
  viewProjectSnippet: of(snippets.ProjectSnippet, snippet, row =>
    snippets.viewProjectSnippet(row, [...rowsOf(project)][0] as ShownProjectRow)
  ),
  viewPersonalSnippet: of(snippets.PersonalSnippet, snippet, snippets.viewPersonalSnippet),
  viewDeployment: {
    schema: deployments.Deployment,
    views: function* () {
      const [reading] = [...rowsOf(build)] as BuildRow[]
      for (const row of rowsOf(deployment)) {
        yield deployments.viewDeployment({ deployment: row, build: undefined })
        if (reading) yield deployments.viewDeployment({ deployment: row, build: { build: reading, commit: null } })
      }
    }
  },
  viewCommitStatus: of(
    commitStatuses.CommitStatus,
    {
      ...joined,
      id: ID,
      sha: TEXT,
      ref: TEXT,
      status: STATUSES,
      name: TEXT,
      target_url: or(TEXT),
      description: or(TEXT),
      created_at: DATE,
      started_at: or(DATE),
      finished_at: or(DATE),
      allow_failure: FLAG
    } satisfies Columns<CommitStatusRow>,
    commitStatuses.viewCommitStatus
  ),
  viewTrigger: of(
    triggers.Trigger,
    {
      id: ID,
      project_id: ID,
      token_encrypted: TEXT.map(encrypt),
      created_at: DATE,
      updated_at: DATE,
      last_used_at: [null, ...DATE]
    },
    triggers.viewTrigger
  ),
  viewRunner: of(runners.Runner, runnerRecord, runner =>
    runners.viewRunner({ runner, projects: [...rowsOf(runnerProject)].slice(0, 8), admin: true })
  ),
  viewRunnerSummary: of(runners.RunnerSummary, runnerRecord, runners.viewRunnerSummary),
  viewVariable: of(variables.Variable, variable, variables.viewVariable),
  viewRemoved: of(
    variables.RemovedVariable,
    { ...variable, value_encrypted: [encrypt('x'), Buffer.from('of another key')] },
    variables.viewRemoved
  ),
  viewApplication: of(applications.Application, application, applications.viewApplication),
  viewNewApplication: of(applications.NewApplication, application, row =>
    applications.viewNewApplication({ row, secret: 'x' })
  ),
  viewToken: of(tokens.Token, token, tokens.viewToken),
  viewScimToken: of(Anything, scimToken, scimTokens.viewScimToken),
  viewNewToken: of(tokens.NewToken, token, row => tokens.viewNewToken({ row, token: 'x' })),
  viewDelivery: of(deliveries.Delivery, delivery, deliveries.viewDelivery),
  viewDeliveryDetails: of(deliveries.DeliveryDetails, delivery, row =>
    deliveries.viewDeliveryDetails(row, [...rowsOf(attempt)])
  ),
  viewSystemHook: of(hooks.SystemHook, hook, hooks.viewSystemHook),
  viewDeletedSystemHook: of(hooks.DeletedSystemHook, hook, hooks.viewDeletedSystemHook),
  viewService: of(
    services.Service,
    {
      slug: SLUGS,
      row: [
        null,
        ...[encrypt('{}'), null].map(properties_encrypted => ({
          id: 1,
          active: 1,
          properties_encrypted,
          created_at: new Date(),
          updated_at: new Date()
        }))
      ]
    },
    services.viewService
  ),
  viewProjectHook: of(projectHooks.ProjectHook, hook, projectHooks.viewProjectHook),
  viewListedHook: of(Anything, hook, row => hooks.viewListedHook(row, undefined)),
  viewHookWithHealth: of(Anything, hook, row => hooks.viewHookWithHealth(row, undefined)),
  viewGroup: of(Anything, group, groups.viewGroup),
  viewGroupItem: of(groups.GroupItem, group, groups.viewGroupItem),
  withStatistics: of(groups.GroupItem, group, row => groups.withStatistics(STORED)(row)),
  viewNamespaceItem: of(
    namespaces.NamespaceItem,
    { id: ID, name: TEXT, path: TEXT, kind: ['user', 'group'] } satisfies Columns<NamespaceRow>,
    namespaces.viewNamespaceItem
  ),
  viewMember: of(members.Member, member, members.viewMember),
  viewAccessRequest: of(accessRequests.AccessRequest, accessRequest, accessRequests.viewAccessRequest),
  viewApproved: of(accessRequests.ApprovedRequest, accessRequest, row =>
    accessRequests.viewApproved(row, [...rowsOf(member)][0] as MemberRow)
  ),
  viewJobOverview: of(overview.JobOverview, queues, overview.viewJobOverview),
  viewJob: of(jobs.Job, job, jobs.viewJob),
  viewFoundJobs: of(jobs.FoundJobs, { jobs: [[], someRows(job)], next: or(ID) }, jobs.viewFoundJobs),
  viewWatchedBuild: of(watched.WatchedBuild, watchedBuild, watched.viewWatchedBuild),
  viewWatchedBuildDetails: of(
    watched.WatchedBuildDetails,
    { build: someRows(watchedBuild), trace: TEXT.map(tail => ({ size: tail.length, tail })) },
    watched.viewWatchedBuildDetails
  ),
  viewRun: of(Anything, run, maintenance.viewRun),
  viewTask: of(Anything, run, row =>
    maintenance.viewTask(
      { name: 'x', schedule: '0 3 * * *', about: '', run: async () => undefined },
      row,
      DATE[0] as Date
    )
  ),
  viewPipeline: {
    schema: pipelines.Pipeline,
    views: function* () {
      for (const row of rowsOf(pipeline)) yield pipelines.viewPipeline(row)
      yield pipelines.viewPipeline({ ...([...rowsOf(pipeline)][0] as PipelineRow), ...GONE })
    }
  },
  viewProjectSimple: of(projects.Project, project, projects.viewProjectSimple),
  viewProject: of(projects.Project, project, row =>
    projects.viewProject(row, master, {
      shares: new Map([[row.id, [{ ...SHARE, project_id: row.id }]]]),
      sources: new Map([[row.id, { ...SOURCE, fork_id: row.id }]]),
      statistics: new Map([[row.id, { ...COUNTED, project_id: row.id }]])
    })
  ),
  viewShareLink: of(shares.ProjectGroupLink, share, shares.viewShareLink),
  viewForkLink: of(forks.ForkRelation, forkLink, forks.viewForkLink),
  viewUpload: of(uploads.Upload, { secret: TEXT, name: [...TEXT, 'a.png'] }, uploads.viewUpload),
  viewEvent: of(events.Event, event, events.viewEvent),
  viewFor: of(projects.Project, project, row => projects.viewFor(nobody)(row)),
  viewTreeEntry: { schema: repository.TreeEntry, views: () => entries.map(repository.viewTreeEntry) },
  titleOf: { schema: Type.String(), views: () => mapped(commits(), ({ message }) => repository.titleOf(message)) },
  viewCommitItem: { schema: repository.CommitItem, views: () => mapped(commits(), repository.viewCommitItem) },
  viewCommitDetail: {
    schema: repository.CommitDetail,
    views: () =>
      mapped(commits(), commit => repository.viewCommitDetail(commit, { additions: 2 ** 53, deletions: 0 }, null))
  },
  viewDiffEntry: of(history.DiffEntry, patch, history.viewDiffEntry),
  viewCompare: {
    schema: history.Compare,
    views: function* () {
      for (const list of [[], [...commits()]]) {
        const patches = [...rowsOf(patch)]
        yield history.viewCompare({ commits: list, patches, isCut: true, isSame: false })
      }
    }
  },
  viewContributor: of(history.Contributor, contributor, history.viewContributor),
  viewRefCommit: { schema: refCommit.RefCommit, views: () => mapped(commits(), refCommit.viewRefCommit) },
  viewBranch: {
    schema: branches.Branch,
    views: () =>
      mapped(commits(), commit => branches.viewBranch({ name: '\ud800', commit, merged: true, protection: null }))
  },
  viewRelease: of(tags.Release, { tag: TEXT, description: TEXT }, tags.viewRelease),
  viewTag: {
    schema: tags.Tag,
    views: function* () {
      for (const commit of commits()) {
        yield tags.viewTag({ name: '', message: commit.message, commit, release: undefined })
      }
      for (const release of rowsOf<ReleaseRow>({ tag: TEXT, description: TEXT })) {
        yield tags.viewTag({ name: '\ud800', message: null, commit: null, release })
      }
    }
  },
  viewCommitComment: of(commitComments.CommitComment, commitComment, commitComments.viewCommitComment),
  viewSettings: of(
    settings.ApplicationSettings,
    { values: [defaultSettings()], stored: [{}, { unknown: 1 }], createdAt: DATE, updatedAt: DATE },
    settings.viewSettings
  ),
  viewSetting: of(Anything, { values: [defaultSettings()], stored: [{}], createdAt: DATE, updatedAt: DATE }, row =>
    settings.viewSetting(row, 'signup_enabled')
  ),
  viewTemplateName: of(templateFiles.TemplateName, { name: TEXT, content: TEXT }, templateFiles.viewTemplateName),
  viewTemplate: of(templateFiles.Template, { name: TEXT, content: TEXT }, templateFiles.viewTemplate),
  viewLicense: of(
    licenses.LicenseTemplate,
    {
      id: TEXT,
      title: TEXT,
      nickname: or(TEXT),
      featured: [true, false],
      description: TEXT,
      conditions: [[], TEXT],
      permissions: [[], TEXT],
      limitations: [[], TEXT],
      urls: [{ opensource: '' }],
      body: TEXT
    } as unknown as Columns<Parameters<typeof licenses.viewLicense>[0]>,
    licenses.viewLicense
  ),
  viewEmail: of(Type.Object({ id: Type.Integer(), email: Type.String() }), { id: ID, user_id: ID, email: TEXT }, row =>
    emails.viewEmail(row as Parameters<typeof emails.viewEmail>[0])
  ),
  viewKey: of(keys.Key, key, keys.viewKey),
  viewKeyWithUser: of(keys.KeyWithUser, key, row => keys.viewKeyWithUser(row, anyone as UserRow)),
  viewKeyInList: of(Anything, key, keys.viewKeyInList),
  viewDeployKey: of(deployKeys.DeployKey, deployKey, deployKeys.viewDeployKey),
  viewDeployKeyInList: of(Anything, deployKey, deployKeys.viewDeployKeyInList),
  viewRemovedDeployKey: of(
    deployKeys.RemovedDeployKey,
    { id: ID, deploy_key_id: ID, project_id: ID, created_at: DATE, updated_at: DATE } satisfies Columns<DeployKeyLink>,
    deployKeys.viewRemovedDeployKey
  ),
  viewMirror: of(
    mirrors.Mirror,
    {
      id: ID,
      project_id: ID,
      project: TEXT,
      user_id: or(ID),
      username: or(TEXT),
      direction: ['pull', 'push'],
      url: TEXT,
      secret_encrypted: [null, Buffer.alloc(0)],
      public_key: or(TEXT),
      host_key: or(TEXT),
      seen_host_key: or(TEXT),
      branch_patterns: or(TEXT),
      overwrite_diverged: FLAG,
      delete_removed: FLAG,
      enabled: FLAG,
      interval_minutes: or(COUNT),
      hook_token_hash: [null, Buffer.alloc(0)],
      due_at: or(DATE),
      is_running: FLAG,
      started_at: or(DATE),
      finished_at: or(DATE),
      succeeded_at: or(DATE),
      result: [null, 'succeeded', 'partial', 'failed', 'stopped'],
      problem: [null, 'unreachable', 'host_key_changed'],
      error: or(TEXT),
      ref_results: [null, '[]', '[{"ref": "refs/heads/x", "status": "diverged", "reason": "é"}]'],
      moved_refs: COUNT,
      failures: COUNT,
      created_at: DATE,
      updated_at: DATE
    } satisfies Columns<MirrorRow>,
    mirrors.viewMirror
  ),
  viewMigration: of(migrations.Migration, migration, migrations.viewMigration),
  viewMigrationWithResult: of(migrations.MigrationWithResult, migration, row =>
    migrations.viewMigrationWithResult(row, { whole: false, report: [{ skipped: null }] })
  ),
  viewPlaceholder: of(
    migrations.Placeholder,
    {
      id: ID,
      username: TEXT,
      name: TEXT,
      source: TEXT,
      source_username: TEXT,
      email: or(TEXT),
      created_at: DATE
    } satisfies Columns<Placeholder>,
    migrations.viewPlaceholder
  ),
  viewUserBasic: of(users.UserBasic, person, people.viewUserBasic),
  viewUser: of(users.User, person, people.viewUser),
  viewUserForAdmin: of(users.User, person, people.viewUserForAdmin),
  viewAccount: of(users.Account, person, row => people.viewAccount(row, 'token'))
}

/** The columns of a deleted user. */
const GONE = Object.fromEntries(Object.keys(fullJoined).map(name => [name, null])) as unknown as {
  readonly [Name in keyof typeof fullJoined]: null
}

t.test('every view of every area has a line', async t => {
  const areas = join(root, 'dist/src/areas')
  const files = readdirSync(areas, { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.(view|record)\.js$/.test(name)
  )
  const found = new Set<string>()
  for (const file of files) {
    for (const [name, value] of Object.entries(await import(join(areas, file)))) {
      if (typeof value === 'function') found.add(name)
    }
  }
  t.ok(found.size > 20, 'enough views are found')
  t.same(
    [...found].filter(name => !Object.hasOwn(specimens, name)),
    [],
    'each view needs a line with its extreme rows'
  )
  t.same(
    Object.keys(specimens).filter(name => !found.has(name)),
    [],
    'no line is for a view that no longer exists'
  )
})

t.test('every view of every extreme row is serialised by its schema', async t => {
  const app = Fastify()
  const answers = new Map<string, unknown[]>()
  for (const [name, { schema, views }] of Object.entries(specimens)) {
    answers.set(name, [...views()])
    app.get(`/${name}`, { schema: { response: { 200: Type.Array(schema) } } }, async () => answers.get(name))
  }
  t.teardown(() => app.close())
  for (const [name, expected] of answers) {
    const res = await app.inject(`/${name}`)
    t.equal(res.statusCode, 200, `${name}: ${res.statusCode === 200 ? '' : res.body}`)
    t.equal(res.json().length, expected.length)
  }
})
