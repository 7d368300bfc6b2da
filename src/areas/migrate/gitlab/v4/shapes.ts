// What GitLab's API v4 sends, as far as the reader needs it: https://docs.gitlab.com/api/rest. Other fields are ignored.
import { type Static, Type } from '../../../../lib/type.js'
import { count, flag, id, maybe, moment, number, prose, sha, text } from '../../sources/shapes.js'
import { Position } from '../note-position.js'

const MANY = 10_000
const dates = { created_at: maybe(moment), updated_at: maybe(moment) }
const person = maybe(Type.Object({ id, username: text(255) }))
export type Author = Static<typeof person> | undefined
const level = Type.Integer({ minimum: 0, maximum: 1000 })
const visibility = Type.Unsafe<'private' | 'internal' | 'public'>({
  type: 'string',
  enum: ['private', 'internal', 'public']
})

export const Version = Type.Object({ version: text(100) })
export const Self = Type.Object({ username: text(255), is_admin: flag })
export const User = Type.Object({
  id,
  username: text(255),
  name: text(1000),
  state: maybe(text(100)),
  email: maybe(text(1000)),
  public_email: maybe(text(1000)),
  /** Only administrators see it. */
  confirmed_at: maybe(moment),
  is_admin: flag,
  bot: flag,
  created_at: maybe(moment)
})
export type User = Static<typeof User>
export const Key = Type.Object({ title: maybe(text(1000)), key: text(20_000) })
export const Member = Type.Object({
  id,
  username: text(255),
  access_level: level,
  expires_at: maybe(moment),
  created_at: maybe(moment)
})
export const Group = Type.Object({
  id,
  name: text(1000),
  full_path: text(1000),
  description: prose,
  visibility: maybe(visibility)
})
/** `private`: only members. */
const access = maybe(text(100))
export const Project = Type.Object({
  id,
  name: text(1000),
  path: text(255),
  path_with_namespace: text(2000),
  description: prose,
  default_branch: maybe(text(255)),
  visibility,
  archived: flag,
  http_url_to_repo: text(4000),
  avatar_url: maybe(text(4000)),
  forked_from_project: maybe(Type.Object({ id })),
  namespace: maybe(Type.Object({ kind: text(100) })),
  statistics: maybe(Type.Object({ repository_size: maybe(count) })),
  shared_with_groups: maybe(Type.Array(Type.Object({ group_id: id, group_access_level: level }), { maxItems: MANY })),
  topics: maybe(Type.Array(text(1000), { maxItems: MANY })),
  tag_list: maybe(Type.Array(text(1000), { maxItems: MANY })),
  issues_access_level: access,
  merge_requests_access_level: access,
  repository_access_level: access,
  wiki_access_level: access,
  snippets_access_level: access,
  builds_access_level: access,
  issues_enabled: flag,
  merge_requests_enabled: flag,
  jobs_enabled: flag,
  wiki_enabled: flag,
  snippets_enabled: flag,
  container_registry_enabled: flag,
  lfs_enabled: flag,
  shared_runners_enabled: flag,
  public_jobs: flag,
  public_builds: flag,
  request_access_enabled: flag,
  only_allow_merge_if_pipeline_succeeds: flag,
  only_allow_merge_if_all_discussions_are_resolved: flag,
  created_at: maybe(moment),
  last_activity_at: maybe(moment)
})
export type Project = Static<typeof Project>

export const Label = Type.Object({
  name: text(1000),
  color: maybe(text(100)),
  description: prose,
  priority: maybe(count)
})
export const Milestone = Type.Object({
  id,
  iid: number,
  group_id: maybe(id),
  title: text(1000),
  description: prose,
  start_date: maybe(moment),
  due_date: maybe(moment),
  state: maybe(text(100)),
  ...dates
})
export type Milestone = Static<typeof Milestone>
const levels = maybe(Type.Array(Type.Object({ access_level: maybe(level) }), { maxItems: MANY }))
export const ProtectedBranch = Type.Object({
  name: text(1000),
  push_access_levels: levels,
  merge_access_levels: levels
})
export const Release = Type.Object({
  tag_name: maybe(text(1000)),
  name: maybe(text(1000)),
  description: prose,
  created_at: maybe(moment),
  released_at: maybe(moment),
  assets: maybe(
    Type.Object({ links: maybe(Type.Array(Type.Object({ name: text(1000), url: text(4000) }), { maxItems: MANY })) })
  )
})
export const Board = Type.Object({
  id,
  lists: maybe(
    Type.Array(Type.Object({ label: maybe(Type.Object({ name: text(1000) })), position: maybe(count) }), {
      maxItems: MANY
    })
  )
})
export const Hook = Type.Object({
  url: text(10_000),
  push_events: flag,
  tag_push_events: flag,
  issues_events: flag,
  confidential_issues_events: flag,
  merge_requests_events: flag,
  note_events: flag,
  job_events: flag,
  pipeline_events: flag,
  wiki_page_events: flag,
  enable_ssl_verification: flag,
  created_at: maybe(moment)
})
export const Variable = Type.Object({
  key: text(255),
  value: maybe(text(100_000)),
  variable_type: maybe(text(100)),
  masked: flag,
  hidden: flag,
  protected: flag,
  environment_scope: maybe(text(255))
})
export const Schedule = Type.Object({
  id,
  description: maybe(text(1000)),
  ref: text(1000),
  cron: text(255),
  cron_timezone: maybe(text(255)),
  owner: person,
  variables: maybe(Type.Array(Variable, { maxItems: 1000 })),
  ...dates
})
export const Environment = Type.Object({
  name: text(1000),
  slug: text(1000),
  external_url: maybe(text(4000)),
  state: maybe(text(100)),
  tier: maybe(text(100)),
  ...dates
})
export const Deployment = Type.Object({
  iid: number,
  ref: text(255),
  sha,
  user: person,
  environment: Type.Object({ name: text(1000) }),
  deployable: maybe(Type.Object({ id, tag: flag })),
  created_at: maybe(moment)
})

const planned = {
  iid: number,
  title: text(2000),
  description: prose,
  state: text(100),
  author: person,
  assignee: person,
  assignees: maybe(Type.Array(Type.Object({ id, username: text(255) }), { maxItems: MANY })),
  milestone: maybe(Type.Object({ id })),
  labels: maybe(Type.Array(text(1000), { maxItems: MANY })),
  time_stats: maybe(Type.Object({ time_estimate: maybe(count), total_time_spent: maybe(count) })),
  closed_at: maybe(moment),
  closed_by: person,
  ...dates
}
export const Planned = Type.Object(planned)
export type Planned = Static<typeof Planned>
export const Issue = Type.Object({ ...planned, confidential: flag, due_date: maybe(moment) })
export type Issue = Static<typeof Issue>
export const MergeRequest = Type.Object({
  ...planned,
  source_project_id: maybe(id),
  target_project_id: id,
  source_branch: text(255),
  target_branch: text(255),
  sha,
  merge_commit_sha: sha,
  squash_commit_sha: sha,
  merge_status: maybe(text(100)),
  merged_at: maybe(moment),
  merged_by: person,
  merge_user: person,
  should_remove_source_branch: flag,
  force_remove_source_branch: flag
})
export type MergeRequest = Static<typeof MergeRequest>
export const DiffVersion = Type.Object({
  id,
  head_commit_sha: sha,
  base_commit_sha: sha,
  start_commit_sha: sha,
  created_at: maybe(moment),
  state: maybe(text(100)),
  real_size: maybe(text(100))
})
export const Note = Type.Object({
  id,
  body: prose,
  author: person,
  system: flag,
  /** Newer versions call it internal. */
  confidential: flag,
  internal: flag,
  resolved: flag,
  position: maybe(Position),
  ...dates
})
export type Note = Static<typeof Note>
export const Award = Type.Object({ name: text(100), user: person, created_at: maybe(moment) })
export const Snippet = Type.Object({
  id,
  title: text(2000),
  file_name: maybe(text(1000)),
  visibility,
  author: person,
  files: maybe(Type.Array(Type.Object({ path: text(1000), raw_url: maybe(text(4000)) }), { maxItems: MANY })),
  ...dates
})
export type Snippet = Static<typeof Snippet>

const ran = { started_at: maybe(moment), finished_at: maybe(moment), ...dates }
const coverage = maybe(Type.Unsafe<string | number>({ type: ['string', 'number'] }))
export const PipelineId = Type.Object({ id })
export const Pipeline = Type.Object({
  id,
  ref: text(255),
  tag: flag,
  sha,
  before_sha: sha,
  status: text(100),
  source: maybe(text(100)),
  yaml_errors: maybe(text(65_535)),
  user: person,
  committed_at: maybe(moment),
  duration: maybe(Type.Number({ minimum: 0, maximum: 4e9 })),
  coverage,
  ...ran
})
export const Job = Type.Object({
  id,
  name: text(255),
  stage: text(255),
  ref: text(255),
  tag: flag,
  status: text(100),
  allow_failure: flag,
  tag_list: maybe(Type.Array(text(255), { maxItems: 1000 })),
  user: person,
  coverage,
  failure_reason: maybe(text(1000)),
  erased_at: maybe(moment),
  queued_duration: maybe(Type.Number()),
  commit: maybe(Type.Object({ id: text(64) })),
  ...ran
})
export type Job = Static<typeof Job>
