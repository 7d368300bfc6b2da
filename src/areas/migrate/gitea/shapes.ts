// What the API v1 of Gitea, Forgejo and Gogs sends, as far as the reader needs it. Other fields are ignored.
import { type Static, type TSchema, Type } from '../../../lib/type.js'
import { count, flag, id, maybe, moment, number, prose, sha, text } from '../sources/shapes.js'

const many = <T extends TSchema>(item: T) => maybe(Type.Array(item, { maxItems: 10_000 }))
const dates = { created_at: maybe(moment), updated_at: maybe(moment) }
const person = maybe(Type.Object({ id, login: text(255) }))
export type Author = Static<typeof person> | undefined

export const Version = Type.Object({ version: text(100) })
export const User = Type.Object({
  id,
  login: text(255),
  full_name: maybe(text(1000)),
  email: maybe(text(1000)),
  is_admin: flag,
  /** Only administrators see these two. */
  active: flag,
  prohibit_login: flag,
  /** Gogs has it for collaborators. */
  permissions: maybe(Type.Object({ admin: flag, push: flag })),
  created: maybe(moment)
})
export type User = Static<typeof User>
export const Key = Type.Object({ title: maybe(text(1000)), key: text(20_000) })
export const Organization = Type.Object({
  username: text(255),
  full_name: maybe(text(1000)),
  description: prose,
  visibility: maybe(text(100))
})
export const Team = Type.Object({
  id,
  name: text(1000),
  permission: maybe(text(100)),
  units_map: maybe(Type.Record(Type.String(), text(100))),
  includes_all_repositories: flag
})
export type Team = Static<typeof Team>
export const Permission = Type.Object({ permission: text(100) })

export const Repository = Type.Object({
  id,
  name: text(255),
  full_name: Type.String({ pattern: '^[\\w.-]{1,255}/[\\w.-]{1,255}$' }),
  owner: Type.Object({ login: Type.String({ pattern: '^[\\w.-]{1,255}$' }), visibility: maybe(text(100)) }),
  private: Type.Boolean(),
  internal: flag,
  description: prose,
  default_branch: maybe(text(255)),
  archived: flag,
  parent: maybe(Type.Object({ id })),
  clone_url: text(4000),
  avatar_url: maybe(text(4000)),
  /** KiB. */
  size: maybe(count),
  topics: many(text(1000)),
  /** Whether the repository has no commits; then its default branch does not exist. */
  empty: flag,
  has_issues: flag,
  has_pull_requests: flag,
  has_wiki: flag,
  has_actions: flag,
  ...dates
})
export type Repository = Static<typeof Repository>
export const Topics = Type.Object({ topics: many(text(1000)) })

export const Label = Type.Object({ name: text(1000), color: maybe(text(100)), description: prose })
export const Milestone = Type.Object({
  id,
  title: text(1000),
  description: prose,
  state: maybe(text(100)),
  due_on: maybe(moment),
  closed_at: maybe(moment),
  ...dates
})
export type Milestone = Static<typeof Milestone>
export const Protection = Type.Object({
  branch_name: maybe(text(1000)),
  rule_name: maybe(text(1000)),
  enable_push: flag,
  enable_push_whitelist: flag,
  enable_merge_whitelist: flag,
  ...dates
})
export const File = Type.Object({ name: text(1000), uuid: maybe(text(100)), browser_download_url: maybe(text(4000)) })
export type File = Static<typeof File>
export const Release = Type.Object({
  id,
  tag_name: maybe(text(1000)),
  name: maybe(text(1000)),
  body: prose,
  draft: flag,
  created_at: maybe(moment),
  published_at: maybe(moment),
  assets: many(File)
})
export const TrackedTime = Type.Object({
  created: maybe(moment),
  time: Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
  user_name: maybe(text(255)),
  issue: Type.Object({ number })
})

const planned = {
  number,
  title: text(2000),
  body: prose,
  user: person,
  original_author: maybe(text(1000)),
  state: text(100),
  labels: many(Type.Object({ name: text(1000) })),
  milestone: maybe(Type.Object({ id })),
  assignee: person,
  assignees: many(Type.Object({ id, login: text(255) })),
  comments: maybe(count),
  due_date: maybe(moment),
  ...dates
}
export const Planned = Type.Object(planned)
export type Planned = Static<typeof Planned>
export const Issue = Type.Object({ ...planned, pull_request: maybe(Type.Object({})) })
export type Issue = Static<typeof Issue>
const branch = Type.Object({ label: maybe(text(1000)), ref: maybe(text(1000)), sha, repo_id: maybe(id) })
export const PullRequest = Type.Object({
  ...planned,
  head: branch,
  base: branch,
  merge_base: sha,
  mergeable: flag,
  merged: flag,
  merged_at: maybe(moment),
  merged_by: person,
  merge_commit_sha: sha
})
export type PullRequest = Static<typeof PullRequest>
export const Comment = Type.Object({
  id,
  body: prose,
  user: person,
  original_author: maybe(text(1000)),
  assets: many(File),
  ...dates
})
export type Comment = Static<typeof Comment>
export const Review = Type.Object({
  id,
  user: person,
  state: text(100),
  body: prose,
  comments_count: maybe(count),
  submitted_at: maybe(moment)
})
export type Review = Static<typeof Review>
const line = maybe(Type.Integer({ minimum: -2_147_483_648, maximum: 4_294_967_295 }))
export const LineComment = Type.Object({
  id,
  body: prose,
  user: person,
  path: maybe(text(65_535)),
  position: line,
  original_position: line,
  resolver: person,
  ...dates
})
export type LineComment = Static<typeof LineComment>
export const Reaction = Type.Object({ content: text(100), user: person, created_at: maybe(moment) })
export const Hook = Type.Object({
  type: maybe(text(100)),
  config: maybe(Type.Object({ url: maybe(text(10_000)) })),
  events: many(text(100)),
  created_at: maybe(moment)
})
export const Variable = Type.Object({ name: text(255), data: maybe(text(100_000)) })
