// The records of a project by API v3. Notes and awards need a request for each record that may have some.
import { ahead } from '../../sources/ahead.js'
import type { Client } from '../../sources/client.js'
import { held } from '../../sources/held.js'
import { awardsOf, dayOf, firstMoment, fitting, momentOf, numbered, shaOf } from '../../sources/shapes.js'
import type { Draft, ReadOptions, Skipped, SourceProject } from '../../sources/source.js'
import { commitCommentRecords, pagesFromZero, UNASKED } from '../commit-comments.js'
import { placeOf } from '../note-position.js'
import { membersOf } from './members.js'
import { check, type IssueShape, type MergeRequestShape, type ProjectShape } from './shapes.js'

const AT_ONCE = 8

interface Reading {
  readonly client: Client
  /** `projects/ID/` */
  readonly root: string
  readonly project: ProjectShape
  readonly skipped: Skipped
}

export async function* readRecords(
  client: Client,
  source: SourceProject,
  { skipped, commitComments = false }: { readonly skipped: Skipped } & Partial<ReadOptions>
): AsyncGenerator<Draft> {
  const project = source.raw as ProjectShape
  const reading = { client, root: `projects/${project.id}/`, project, skipped }
  const report = { what: 'member', skipped }
  yield projectDraft(project)
  for (const { username, level, expiresAt } of await membersOf(client, `${reading.root}members?per_page=100`, report)) {
    const expires_at = expiresAt ?? null
    yield { kind: 'member', username, access_level: Math.min(level, 40), expires_at, created_at: born(project) }
  }
  yield* labels(reading)
  yield* milestones(reading)
  yield* refs(reading)
  yield* boards(reading)
  yield* settings(reading)
  yield* environments(reading)
  yield* planned(reading, 'issue', 'issues?per_page=100&order_by=created_at&sort=asc')
  yield* planned(reading, 'merge_request', 'merge_requests?per_page=100&state=all&order_by=created_at&sort=asc')
  yield* snippets(reading)
  if (commitComments) yield* commentsOnCommits(reading)
  else skipped('comments on commits', UNASKED)
  skipped('pipelines, builds and deployments', 'API v3 does not show how they were made')
  skipped('subscriptions', 'API v3 shows only those of the user of the token')
}

const commentsOnCommits = ({ client, root, project, skipped }: Reading): AsyncGenerator<Draft> => {
  const commits = pagesFromZero(client, `${root}repository/commits`)
  return commitCommentRecords({ client, root, commits, created: firstMoment(project.created_at), skipped })
}

const born = ({ created_at }: ProjectShape) => firstMoment(created_at)

const FLAGS = [
  ['archived', false],
  ['issues_enabled', true],
  ['merge_requests_enabled', true],
  ['builds_enabled', true],
  ['wiki_enabled', true],
  ['snippets_enabled', false],
  ['container_registry_enabled', false],
  ['lfs_enabled', false],
  ['shared_runners_enabled', true],
  ['public_builds', true],
  ['request_access_enabled', true],
  ['only_allow_merge_if_build_succeeds', false],
  ['only_allow_merge_if_all_discussions_are_resolved', false]
] as const

function projectDraft(project: ProjectShape): Draft {
  const { name, path_with_namespace: path, description, visibility_level } = project
  return {
    kind: 'project',
    name,
    path: path.split('/').at(-1),
    description: description ?? null,
    visibility_level: visibility_level >= 20 ? 20 : visibility_level >= 10 ? 10 : 0,
    default_branch: project.default_branch ?? null,
    ...Object.fromEntries(FLAGS.map(([flag, usual]) => [flag, project[flag] ?? usual])),
    tag_list: project.tag_list ?? [],
    created_at: born(project),
    last_activity_at: firstMoment(project.last_activity_at, project.created_at),
    counters: { issue: 0, milestone: 0, merge_request: 0 }
  }
}

async function* records<T>(
  { client, root, skipped }: Reading,
  path: string,
  what: string,
  check: (value: unknown) => T | null
): AsyncGenerator<T> {
  for await (const page of client.list(`${root}${path}`, { optional: true }))
    yield* fitting(page, check, { what, skipped })
}

/** Not specified: API v3 does not say when a label was made. It gets the date of its project. */
async function* labels(reading: Reading): AsyncGenerator<Draft> {
  const at = born(reading.project)
  for await (const { name, color, description, priority } of records(
    reading,
    'labels?per_page=100',
    'labels',
    check.label
  )) {
    const isColour = /^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/.test(color ?? '')
    yield {
      kind: 'label',
      title: name,
      color: isColour ? color : '#428bca',
      description: description ?? null,
      priority: priority ?? null,
      created_at: at,
      updated_at: at,
      subscriptions: []
    }
  }
}

async function* milestones(reading: Reading): AsyncGenerator<Draft> {
  const report = { what: 'milestones', skipped: reading.skipped }
  const found = await held(records(reading, 'milestones?per_page=100', report.what, check.milestone), report)
  for (const each of found.sort((one, other) => one.iid - other.iid)) {
    yield {
      kind: 'milestone',
      iid: each.iid,
      title: each.title,
      description: each.description ?? null,
      start_date: dayOf(each.start_date),
      due_date: dayOf(each.due_date),
      state: each.state === 'closed' ? 'closed' : 'active',
      created_at: firstMoment(each.created_at, reading.project.created_at),
      updated_at: firstMoment(each.updated_at, each.created_at, reading.project.created_at)
    }
  }
}

async function* refs(reading: Reading): AsyncGenerator<Draft> {
  const at = born(reading.project)
  for await (const branch of records(reading, 'repository/branches?per_page=100', 'branches', check.branch)) {
    if (!branch.protected) continue
    yield {
      kind: 'protected_branch',
      name: branch.name,
      developers_can_push: branch.developers_can_push === true,
      developers_can_merge: branch.developers_can_merge === true,
      created_at: at,
      updated_at: at
    }
  }
  for await (const { name, release, commit } of records(reading, 'repository/tags?per_page=100', 'tags', check.tag)) {
    if (!release) continue
    const made = firstMoment(commit?.committed_date, reading.project.created_at)
    yield { kind: 'release', tag: name, description: release.description ?? '', created_at: made, updated_at: made }
  }
}

async function* boards(reading: Reading): AsyncGenerator<Draft> {
  const at = born(reading.project)
  for await (const { lists } of records(reading, 'boards?per_page=100', 'boards', check.board)) {
    const named = lists.flatMap(({ label }) => (label ? [label.name] : []))
    yield {
      kind: 'board',
      created_at: at,
      lists: named.map((label, position) => ({ label, position, created_at: at }))
    }
    return
  }
}

const HOOK_EVENTS = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'note_events',
  'build_events',
  'pipeline_events',
  'wiki_page_events'
] as const

/** Hooks come disabled, and without their tokens, which no API shows. Variables come if the token shows them. */
async function* settings(reading: Reading): AsyncGenerator<Draft> {
  for await (const hook of records(reading, 'hooks?per_page=100', 'hooks', check.hook)) {
    const at = firstMoment(hook.created_at, reading.project.created_at)
    yield {
      kind: 'hook',
      url: hook.url,
      token: null,
      ...Object.fromEntries(HOOK_EVENTS.map(name => [name, hook[name] === true])),
      enable_ssl_verification: hook.enable_ssl_verification !== false,
      created_at: at,
      updated_at: at
    }
  }
  for await (const variable of records(reading, 'variables?per_page=100', 'variables', check.variable)) {
    yield {
      kind: 'variable',
      key: variable.key,
      value: variable.value,
      masked: variable.masked ?? null,
      protected: variable.protected === true,
      environment_scope: variable.environment_scope ?? '*',
      created_at: born(reading.project),
      updated_at: born(reading.project)
    }
  }
}

async function* environments(reading: Reading): AsyncGenerator<Draft> {
  const at = born(reading.project)
  for await (const each of records(reading, 'environments?per_page=100', 'environments', check.environment)) {
    const slug = each.slug ?? each.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    yield {
      kind: 'environment',
      name: each.name,
      slug: slug.slice(0, 24).replace(/^-+|-+$/g, ''),
      external_url: each.external_url ?? null,
      state: 'available',
      tier: null,
      created_at: at,
      updated_at: at
    }
  }
}

/** Issues or merge requests, each with its notes. */
async function* planned(reading: Reading, kind: 'issue' | 'merge_request', path: string): AsyncGenerator<Draft> {
  const isIssue = kind === 'issue'
  const what = isIssue ? 'issues' : 'merge requests'
  const found = records<IssueShape | MergeRequestShape>(reading, path, what, isIssue ? check.issue : check.mergeRequest)
  const listed = numbered(found, ({ iid }) => iid, { what, skipped: reading.skipped })
  const root = isIssue ? 'issues' : 'merge_requests'
  const whole = ahead<IssueShape | MergeRequestShape, readonly Draft[]>(listed, AT_ONCE, async record => {
    const below = `${root}/${record.id}/`
    const on = { type: isIssue ? 'Issue' : 'MergeRequest', number: record.iid, commit: null }
    const notes = await notesOf(reading, below, on)
    const time = check.timeStats((await reading.client.find(`${reading.root}${below}time_stats`))?.body)
    const authors = notes.filter(({ is_system }) => is_system !== true).map(({ author }) => author)
    const people = [record.author?.username, record.assignee?.username, ...authors]
    const draft: Draft = {
      kind,
      iid: record.iid,
      title: record.title,
      description: record.description ?? null,
      author: record.author?.username ?? null,
      assignee: record.assignee?.username ?? null,
      milestone: record.milestone?.iid ?? null,
      updated_by: null,
      time_estimate: time?.time_estimate ?? 0,
      total_time_spent: time?.total_time_spent ?? 0,
      created_at: firstMoment(record.created_at, reading.project.created_at),
      updated_at: firstMoment(record.updated_at, record.created_at, reading.project.created_at),
      labels: record.labels,
      participants: [...new Set(people.filter(each => typeof each === 'string'))],
      timelogs: [],
      award_emoji: await awards(reading, below),
      subscriptions: [],
      ...('source_branch' in record ? await mergeRequestValues(reading, record) : issueValues(record))
    }
    return [draft, ...notes]
  })
  let [comments, lines] = [0, 0]
  for await (const drafts of whole) {
    yield* drafts
    for (const { kind, is_system, line } of drafts) {
      if (kind === 'note' && is_system !== true) comments++
      if (kind === 'note' && line !== null) lines++
    }
  }
  if (!isIssue && comments > 0 && lines === 0 && (await isGitLab8(reading)))
    reading.skipped('lines of comments on changes', 'GitLab 8 does not show which comments on merge requests have one')
}

const isGitLab8 = async ({ client }: Reading) =>
  check.version((await client.find('version'))?.body)?.version.startsWith('8.') !== false

const issueValues = ({ state, confidential, due_date }: IssueShape) => ({
  state: state === 'closed' || state === 'reopened' ? state : 'opened',
  confidential: confidential === true,
  due_date: dayOf(due_date)
})

async function mergeRequestValues(reading: Reading, record: MergeRequestShape) {
  const { state, source_project_id: source } = record
  const isFork = source !== null && source !== undefined && source !== reading.project.id
  const status = record.merge_status
  return {
    state: state === 'closed' || state === 'reopened' || state === 'merged' ? state : 'opened',
    merge_status: status === 'can_be_merged' || status === 'cannot_be_merged' ? status : 'unchecked',
    target_branch: record.target_branch,
    source_branch: record.source_branch,
    fork: isFork ? String(source) : null,
    head_sha: shaOf(record.sha),
    merge_commit_sha: shaOf(record.merge_commit_sha),
    merge_error: null,
    merge_user: null,
    merge_message: null,
    should_remove_source_branch: record.should_remove_source_branch ?? null,
    force_remove_source_branch: record.force_remove_source_branch ?? null,
    versions: await versionsOf(reading, record)
  }
}

async function versionsOf(reading: Reading, { id, created_at }: MergeRequestShape) {
  const found: { id: number; version: object }[] = []
  const path = `merge_requests/${id}/versions?per_page=100`
  for await (const each of records(reading, path, 'versions of merge requests', check.mergeRequestVersion)) {
    const size = String(each.real_size ?? 0)
    const head = shaOf(each.head_commit_sha)
    if (head === null) continue
    const version = {
      head_sha: head,
      base_sha: shaOf(each.base_commit_sha),
      start_sha: shaOf(each.start_commit_sha),
      state: each.state === 'overflow' || each.state === 'empty' ? each.state : 'collected',
      real_size: /^\d{1,10}\+?$/.test(size) ? size : '0',
      created_at: firstMoment(each.created_at, created_at)
    }
    found.push({ id: each.id, version })
  }
  return found.sort((one, other) => one.id - other.id).map(({ version }) => version)
}

async function notesOf(reading: Reading, below: string, on: object): Promise<Draft[]> {
  // A note about a record is read together with it, so all of them are in memory for a moment.
  const report = { what: 'notes', skipped: reading.skipped }
  const found = await held(records(reading, `${below}notes?per_page=100`, report.what, check.note), report)
  const notes: Draft[] = []
  // Sources list notes in different orders.
  for (const note of found.sort((one, other) => one.id - other.id)) {
    const isSystem = note.system === true
    notes.push({
      kind: 'note',
      on,
      author: note.author?.username ?? null,
      note: note.body,
      is_system: isSystem,
      path: null,
      line: null,
      line_type: null,
      ...placeOf(note.position),
      updated_by: null,
      refers: null,
      created_at: firstMoment(note.created_at, reading.project.created_at),
      updated_at: firstMoment(note.updated_at, note.created_at, reading.project.created_at),
      award_emoji: isSystem || below.startsWith('snippets/') ? [] : await awards(reading, `${below}notes/${note.id}/`)
    })
  }
  return notes
}

async function awards(reading: Reading, below: string) {
  const found: { name: string; user: string | null; at: string }[] = []
  for await (const { name, user, created_at } of records(reading, `${below}award_emoji`, 'award emoji', check.award)) {
    const at = momentOf(created_at) ?? born(reading.project)
    found.push({ name, user: user?.username ?? null, at })
  }
  return awardsOf(found, reading.skipped)
}

/** Not specified: API v3 does not show the visibility of a snippet. It becomes private: only members of the project see it. */
async function* snippets(reading: Reading): AsyncGenerator<Draft> {
  const report = { what: 'snippets', skipped: reading.skipped }
  const found = await held(records(reading, 'snippets?per_page=100', report.what, check.snippet), report)
  for (const [at, snippet] of found.sort((one, other) => one.id - other.id).entries()) {
    const below = `snippets/${snippet.id}/`
    const number = at + 1
    yield {
      kind: 'snippet',
      number,
      author: snippet.author?.username ?? null,
      title: snippet.title,
      file_name: snippet.file_name ?? '',
      content: (await reading.client.text(`${reading.root}${below}raw`)) ?? '',
      visibility_level: 0,
      created_at: firstMoment(snippet.created_at, reading.project.created_at),
      updated_at: firstMoment(snippet.updated_at, snippet.created_at, reading.project.created_at),
      award_emoji: await awards(reading, below)
    }
    yield* await notesOf(reading, below, { type: 'Snippet', number, commit: null })
  }
}
