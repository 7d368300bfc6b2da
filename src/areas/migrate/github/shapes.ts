// What the API of GitHub sends, as far as the reader needs it. Every value is checked before it is used; other fields are ignored.
import { type Static, Type } from '../../../lib/type.js'
import { prose as body, count, id, maybe, moment, number, text } from '../sources/shapes.js'
import type { Person } from '../sources/source.js'

const optional = Type.Optional
const sha = Type.String({ pattern: '^[0-9a-f]{40}$' })
const ref = Type.String({ minLength: 1, maxLength: 255 })
const url = text(2000)
const login = Type.Object({ login: text(255) })
const user = maybe(login)
const times = { created_at: moment, updated_at: moment }
const reactions = maybe(Type.Object({ total_count: count }))
const labels = Type.Array(Type.Object({ name: text(1000) }), { maxItems: 1000 })
const people = maybe(Type.Array(maybe(login), { maxItems: 1000 }))

const planned = {
  number,
  title: text(10_000),
  body,
  state: text(20),
  user,
  assignee: user,
  assignees: people,
  labels,
  milestone: maybe(Type.Object({ number })),
  ...times
}
const comment = { id, body, user, reactions, ...times }

export const Self = Type.Object({ login: text(255), site_admin: optional(Type.Boolean()) })
export const Meta = Type.Object({ installed_version: optional(text(100)) })
export const Account = Type.Object({
  login: text(255),
  type: optional(text(50)),
  name: maybe(text(1000)),
  email: maybe(text(1000)),
  site_admin: optional(Type.Boolean()),
  suspended_at: maybe(moment),
  created_at: optional(moment)
})
export const Login = login
export const Key = Type.Object({ id, key: text(20_000) })
export const Organization = Type.Object({
  login: text(255),
  name: maybe(text(1000)),
  description: maybe(text(10_000)),
  public_repos: optional(count),
  default_repository_permission: maybe(text(50))
})
export const Repository = Type.Object({
  id,
  name: text(255),
  full_name: Type.String({ pattern: '^(?!\\.{1,2}/)[\\w.-]{1,100}/(?!\\.{1,2}$)[\\w.-]{1,150}$' }),
  private: Type.Boolean(),
  visibility: optional(text(20)),
  owner: Type.Object({ login: text(255), type: optional(text(50)) }),
  description: body,
  fork: Type.Boolean(),
  parent: maybe(Type.Object({ id })),
  clone_url: url,
  default_branch: maybe(ref),
  archived: optional(Type.Boolean()),
  has_issues: optional(Type.Boolean()),
  has_wiki: optional(Type.Boolean()),
  has_discussions: optional(Type.Boolean()),
  topics: optional(Type.Array(text(255), { maxItems: 1000 })),
  size: count,
  pushed_at: maybe(moment),
  ...times
})
export type Repository = Static<typeof Repository>
export const Collaborator = Type.Object({
  login: text(255),
  role_name: optional(text(100)),
  permissions: optional(Type.Record(Type.String(), Type.Boolean()))
})
export const Label = Type.Object({
  name: text(1000),
  color: text(20),
  description: maybe(text(10_000))
})
export const Milestone = Type.Object({
  number,
  title: text(10_000),
  description: body,
  state: text(20),
  due_on: maybe(moment),
  ...times
})
export const Branch = Type.Object({ name: ref })
export const Protection = Type.Object({
  required_pull_request_reviews: optional(Type.Unknown()),
  restrictions: optional(Type.Unknown()),
  lock_branch: maybe(Type.Object({ enabled: Type.Boolean() }))
})
export const Ruleset = Type.Object({ target: optional(text(50)), enforcement: text(50) })
export const Release = Type.Object({
  id,
  tag_name: ref,
  name: maybe(text(10_000)),
  body,
  draft: Type.Boolean(),
  created_at: moment,
  published_at: maybe(moment),
  assets: Type.Array(Type.Object({ id, name: text(1000), browser_download_url: url }), { maxItems: 10_000 })
})
export const Hook = Type.Object({
  id,
  events: Type.Array(text(100), { maxItems: 200 }),
  config: Type.Object({ url: optional(url), insecure_ssl: optional(Type.Unknown()) }),
  ...times
})
export const Issue = Type.Object({ id, ...planned, pull_request: maybe(Type.Object({})), reactions })
export type Issue = Static<typeof Issue>

const side = Type.Object({ ref, sha, repo: maybe(Type.Object({ id })), user })
export const Pull = Type.Object({
  ...planned,
  draft: optional(Type.Boolean()),
  merged_at: maybe(moment),
  merge_commit_sha: maybe(sha),
  requested_reviewers: people,
  head: side,
  base: side
})
export type Pull = Static<typeof Pull>
export const Reaction = Type.Object({ content: text(50), user, created_at: moment })
export const Comment = Type.Object({ ...comment, issue_url: url })
export const ReviewComment = Type.Object({
  ...comment,
  pull_request_url: url,
  path: text(65_535),
  line: maybe(number),
  original_line: maybe(number),
  side: maybe(text(10)),
  diff_hunk: body
})
export type ReviewComment = Static<typeof ReviewComment>
export const CommitComment = Type.Object({
  ...comment,
  commit_id: sha,
  path: maybe(text(65_535)),
  line: maybe(number)
})
export const Review = Type.Object({ id, user, body, state: text(50), submitted_at: maybe(moment) })
export type Review = Static<typeof Review>
export const IssueEvent = Type.Object({
  id,
  event: text(100),
  actor: user,
  created_at: moment,
  issue: maybe(Type.Object({ number }))
})

/** Returns the username. GitHub shows the account `ghost` or null for deleted users. */
export const personOf = (found: { readonly login: string } | null | undefined): Person =>
  found && found.login.toLowerCase() !== 'ghost' && /^[\w.-]{1,200}(?:\[bot\])?$/.test(found.login) ? found.login : null
