// What API v3 returns, as far as a migration uses it. GitLab 8 leaves out some fields, and other fields are null on one of both.
import { type Static, Type } from '../../../../lib/type.js'
import { checked, count, flag, id, maybe, moment, number, prose, sha, text } from '../../sources/shapes.js'
import { Position } from '../note-position.js'

const name = text(1000)
const UserBasic = Type.Object({ username: text(255) })
const by = maybe(UserBasic)

const User = Type.Object({
  id,
  username: text(255),
  name,
  state: maybe(text(64)),
  is_admin: flag,
  email: maybe(text(320)),
  confirmed_at: maybe(moment),
  created_at: maybe(moment)
})
const Version = Type.Object({ version: text(255) })
const Key = Type.Object({ title: text(1000), key: text(100_000) })
const Group = Type.Object({ id, path: text(255), name, description: maybe(text(10_000)) })
const GroupDetail = Type.Object({ visibility_level: maybe(Type.Integer()) })
const Member = Type.Object({ username: text(255), access_level: Type.Integer(), expires_at: maybe(moment) })
const Project = Type.Object({
  id,
  path_with_namespace: text(1000),
  http_url_to_repo: text(4000),
  name,
  description: prose,
  visibility_level: Type.Integer({ minimum: 0, maximum: 20 }),
  archived: flag,
  default_branch: maybe(text(1000)),
  issues_enabled: flag,
  merge_requests_enabled: flag,
  builds_enabled: flag,
  wiki_enabled: flag,
  snippets_enabled: flag,
  container_registry_enabled: flag,
  lfs_enabled: flag,
  shared_runners_enabled: flag,
  public_builds: flag,
  request_access_enabled: flag,
  only_allow_merge_if_build_succeeds: flag,
  only_allow_merge_if_all_discussions_are_resolved: flag,
  tag_list: maybe(Type.Array(text(1000), { maxItems: 10_000 })),
  avatar_url: maybe(text(4000)),
  forked_from_project: maybe(Type.Object({ id })),
  created_at: maybe(moment),
  last_activity_at: maybe(moment),
  statistics: maybe(Type.Object({ repository_size: maybe(count) }))
})
const Label = Type.Object({
  name: text(1000),
  color: maybe(text(64)),
  description: prose,
  priority: maybe(Type.Integer())
})
const Milestone = Type.Object({
  id,
  iid: number,
  title: text(10_000),
  description: prose,
  state: text(64),
  start_date: maybe(text(64)),
  due_date: maybe(text(64)),
  created_at: maybe(moment),
  updated_at: maybe(moment)
})
const planned = {
  id,
  iid: number,
  title: text(10_000),
  description: prose,
  state: text(64),
  created_at: maybe(moment),
  updated_at: maybe(moment),
  labels: Type.Array(text(1000), { maxItems: 10_000 }),
  milestone: maybe(Type.Object({ iid: number })),
  author: by,
  assignee: by
}
const Issue = Type.Object({ ...planned, confidential: flag, due_date: maybe(text(64)) })
const MergeRequest = Type.Object({
  ...planned,
  source_branch: text(1000),
  target_branch: text(1000),
  source_project_id: maybe(id),
  target_project_id: maybe(id),
  merge_status: maybe(text(64)),
  sha,
  merge_commit_sha: sha,
  should_remove_source_branch: flag,
  force_remove_source_branch: flag
})
const MergeRequestVersion = Type.Object({
  id,
  head_commit_sha: text(64),
  base_commit_sha: sha,
  start_commit_sha: sha,
  created_at: maybe(moment),
  state: maybe(text(64)),
  /** GitLab has a text. */
  real_size: maybe(text(64))
})
const TimeStats = Type.Object({ time_estimate: maybe(count), total_time_spent: maybe(count) })
const Note = Type.Object({
  id,
  body: Type.String(),
  author: by,
  created_at: maybe(moment),
  updated_at: maybe(moment),
  system: flag,
  /** Only another Gitstead has it. */
  position: maybe(Position)
})
const Award = Type.Object({ name: text(255), user: by, created_at: maybe(moment) })
const Snippet = Type.Object({
  id,
  title: text(10_000),
  file_name: maybe(text(1000)),
  author: by,
  created_at: maybe(moment),
  updated_at: maybe(moment)
})
const Board = Type.Object({
  lists: Type.Array(Type.Object({ label: maybe(Type.Object({ name: text(1000) })), position: maybe(count) }), {
    maxItems: 10_000
  })
})
const Hook = Type.Object({
  url: text(4000),
  created_at: maybe(moment),
  push_events: flag,
  tag_push_events: flag,
  issues_events: flag,
  confidential_issues_events: flag,
  merge_requests_events: flag,
  note_events: flag,
  build_events: flag,
  pipeline_events: flag,
  wiki_page_events: flag,
  enable_ssl_verification: flag
})
const Variable = Type.Object({
  key: text(255),
  value: Type.String(),
  masked: flag,
  protected: flag,
  environment_scope: maybe(text(255))
})
const Environment = Type.Object({ name: text(255), slug: maybe(text(255)), external_url: prose })
const Branch = Type.Object({
  name: text(1000),
  protected: flag,
  developers_can_push: flag,
  developers_can_merge: flag
})
const Tag = Type.Object({
  name: text(1000),
  commit: maybe(Type.Object({ committed_date: maybe(moment) })),
  release: maybe(Type.Object({ description: prose }))
})

export const check = {
  user: checked(User),
  version: checked(Version),
  key: checked(Key),
  group: checked(Group),
  groupDetail: checked(GroupDetail),
  member: checked(Member),
  project: checked(Project),
  label: checked(Label),
  milestone: checked(Milestone),
  issue: checked(Issue),
  mergeRequest: checked(MergeRequest),
  mergeRequestVersion: checked(MergeRequestVersion),
  timeStats: checked(TimeStats),
  note: checked(Note),
  award: checked(Award),
  snippet: checked(Snippet),
  board: checked(Board),
  hook: checked(Hook),
  variable: checked(Variable),
  environment: checked(Environment),
  branch: checked(Branch),
  tag: checked(Tag)
}
export type ProjectShape = Static<typeof Project>
export type IssueShape = Static<typeof Issue>
export type MergeRequestShape = Static<typeof MergeRequest>
