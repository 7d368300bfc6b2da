// The records of a repository of GitHub except those of its discussions: the project, labels, milestones, protected branches, releases.
import { OTHER_SETTINGS } from '../../upkeep/project-archives/other-settings.js'
import { checked, firstMoment, momentOf } from '../sources/shapes.js'
import type { Draft } from '../sources/source.js'
import { items, type Reading } from './lists.js'
import { Branch, Hook, Label, Milestone, Protection, Release, type Repository, Ruleset } from './shapes.js'

/** The last numbers that the source has assigned. */
export interface Counters {
  readonly issue: number
  readonly milestone: number
  readonly merge_request: number
}

export function projectDraft({ skipped }: Reading, found: Repository, counters: Counters): Draft {
  const { name, description, archived, default_branch, has_issues, has_wiki, topics } = found
  if (found.has_discussions) skipped('discussion', 'there are no discussions here outside of issues and merge requests')
  const created_at = firstMoment(found.created_at)
  return {
    kind: 'project',
    name,
    path: name,
    description: description ?? null,
    visibility_level: levelOf(found),
    archived: archived ?? false,
    default_branch: default_branch ?? null,
    issues_enabled: has_issues ?? true,
    merge_requests_enabled: true,
    builds_enabled: true,
    wiki_enabled: has_wiki ?? false,
    snippets_enabled: false,
    container_registry_enabled: false,
    ...OTHER_SETTINGS,
    tag_list: [...new Set(topics ?? [])],
    created_at,
    last_activity_at: momentOf(found.pushed_at ?? found.updated_at) ?? created_at,
    counters
  }
}

/** Whatever is not known to be open is private. */
function levelOf({ private: isPrivate, visibility }: Repository): 0 | 10 | 20 {
  if (visibility === 'internal') return 10
  return isPrivate || (visibility ?? 'public') !== 'public' ? 0 : 20
}

/** GitHub has no dates of labels. */
export async function* labelDrafts(reading: Reading, repository: Repository): AsyncGenerator<Draft> {
  const at = firstMoment(repository.created_at)
  const seen = new Set<string>()
  for await (const { name, color, description } of items(reading, `${reading.repo}/labels`, Label, {
    what: 'label',
    optional: true
  })) {
    const title = labelTitle(name)
    if (title === '' || seen.has(title)) reading.skipped('label', 'another label has the same title here')
    if (title === '' || seen.has(title)) continue
    seen.add(title)
    yield {
      kind: 'label',
      title,
      color: /^[0-9a-f]{6}$/i.test(color) ? `#${color}` : '#ededed',
      description: description ?? null,
      priority: null,
      created_at: at,
      updated_at: at,
      subscriptions: []
    }
  }
}

/** Titles here have no commas, which separate them in lists. */
export const labelTitle = (name: string): string =>
  name
    .replace(/,\s*|\p{Cc}/gu, ' ')
    .trim()
    .slice(0, 255)

export async function* milestoneDrafts(reading: Reading): AsyncGenerator<Draft & { readonly iid: number }> {
  const path = `${reading.repo}/milestones?state=all&sort=due_on&direction=asc`
  const seen = new Set<number>()
  for await (const found of items(reading, path, Milestone, { what: 'milestone', optional: true })) {
    const { number: iid, title, description, state, due_on } = found
    const [created_at, updated_at] = [momentOf(found.created_at), momentOf(found.updated_at)]
    if (seen.has(iid) || created_at === null || updated_at === null) continue
    seen.add(iid)
    yield {
      kind: 'milestone',
      iid,
      title: title.trim() || `Milestone ${iid}`,
      description: description ?? null,
      start_date: null,
      due_date: due_on ? (momentOf(due_on)?.slice(0, 10) ?? null) : null,
      state: state === 'closed' ? 'closed' : 'active',
      created_at,
      updated_at
    }
  }
}

const checkProtection = checked(Protection)

export async function* protectedBranchDrafts(reading: Reading, repository: Repository): AsyncGenerator<Draft> {
  const { client, repo, skipped } = reading
  const at = firstMoment(repository.created_at)
  const branches = items(reading, `${repo}/branches?protected=true`, Branch, {
    what: 'protected branch',
    optional: true
  })
  for await (const { name } of branches) {
    const page = await client.find(`${repo}/branches/${encodeURIComponent(name)}/protection`)
    const rules = checkProtection(page?.body)
    if (!rules) skipped('rule of a protected branch', 'the token may not read it: only masters may push here')
    const isOpen = rules !== null && !rules.restrictions && rules.lock_branch?.enabled !== true
    yield {
      kind: 'protected_branch',
      name,
      developers_can_push: isOpen && !rules.required_pull_request_reviews,
      developers_can_merge: isOpen,
      created_at: at,
      updated_at: at
    }
  }
  for await (const { enforcement } of items(reading, `${repo}/rulesets`, Ruleset, {
    what: 'ruleset',
    optional: true
  })) {
    if (enforcement === 'active') skipped('ruleset', 'there are no rulesets here: protect its branches')
  }
}

export async function* releaseDrafts(reading: Reading, { private: isPrivate }: Repository): AsyncGenerator<Draft> {
  const { repo, skipped } = reading
  const seen = new Set<string>()
  for await (const found of items(reading, `${repo}/releases`, Release, { what: 'release', optional: true })) {
    const created_at = momentOf(found.published_at ?? found.created_at)
    if (found.draft) skipped('release', 'it is a draft')
    if (found.draft || created_at === null || seen.has(found.tag_name)) continue
    seen.add(found.tag_name)
    const name = found.name?.trim() ?? ''
    const title = name === '' || name === found.tag_name ? [] : [`# ${name}`]
    const assets = found.assets.map(
      ({ id, name, browser_download_url: url }) =>
        `* [${name.replace(/[[\]\\\n]/g, ' ')}](${isPrivate ? `${repo}/releases/assets/${id}#${encodeURIComponent(name)}` : url})`
    )
    const parts = [...title, ...(found.body ? [found.body] : []), ...(assets.length > 0 ? [assets.join('\n')] : [])]
    yield { kind: 'release', tag: found.tag_name, description: parts.join('\n\n'), created_at, updated_at: created_at }
  }
}

/** The names of the events of hooks, and the flag of each here. A push to GitHub may be one of a branch or of a tag. */
const HOOK_EVENTS = {
  push_events: ['push'],
  tag_push_events: ['push', 'create'],
  issues_events: ['issues'],
  merge_requests_events: ['pull_request'],
  note_events: ['issue_comment', 'commit_comment', 'pull_request_review', 'pull_request_review_comment'],
  build_events: ['workflow_job', 'check_run'],
  pipeline_events: ['workflow_run', 'check_suite'],
  wiki_page_events: ['gollum']
}

/** The import disables hooks: their receivers do not know this appliance yet. GitHub does not show their secrets. */
export async function* hookDrafts(reading: Reading): AsyncGenerator<Draft> {
  for await (const { id: _, events, config, ...times } of items(reading, `${reading.repo}/hooks`, Hook, {
    what: 'hook',
    optional: true
  })) {
    const isWanted = (names: readonly string[]) => names.some(name => events.includes(name)) || events.includes('*')
    yield {
      kind: 'hook',
      url: config.url ?? '',
      token: null,
      ...Object.fromEntries(Object.entries(HOOK_EVENTS).map(([flag, names]) => [flag, isWanted(names)])),
      confidential_issues_events: false,
      enable_ssl_verification: String(config.insecure_ssl ?? '0') === '0',
      created_at: firstMoment(times.created_at),
      updated_at: firstMoment(times.updated_at)
    }
  }
}
