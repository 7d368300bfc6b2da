// The records of a project of GitLab.
import { held } from '../../sources/held.js'
import { checked, firstMoment, fitting, momentOf } from '../../sources/shapes.js'
import type { Draft, ReadOptions } from '../../sources/source.js'
import { commitCommentRecords, UNASKED } from '../commit-comments.js'
import { readMembers } from './people.js'
import { pipelineRecords } from './pipelines.js'
import { plannedRecords } from './planned.js'
import type { Reading } from './reading.js'
import { settingRecords } from './settings.js'
import { Label, Milestone } from './shapes.js'
import { snippetRecords } from './snippets.js'

const checkLabel = checked(Label)
const checkMilestone = checked(Milestone)

export async function* projectRecords(
  given: Pick<Reading, 'client' | 'base' | 'project' | 'skipped'>,
  options?: ReadOptions
): AsyncGenerator<Draft> {
  const reading: Reading = {
    ...given,
    path: `projects/${given.project.id}`,
    created: firstMoment(given.project.created_at),
    environments: new Set(),
    labels: new Set(),
    milestones: new Map()
  }
  yield* memberRecords(reading)
  yield* labelRecords(reading)
  yield* milestoneRecords(reading)
  yield* settingRecords(reading)
  yield* plannedRecords(reading)
  yield* snippetRecords(reading)
  yield* pipelineRecords(reading)
  if (options?.commitComments) {
    const { client, created, skipped } = reading
    const root = `${reading.path}/`
    const commits = client.list(`${root}repository/commits?all=true&per_page=100`, { optional: true })
    yield* commitCommentRecords({ client, root, commits, created, skipped })
  } else reading.skipped('comments on commits', UNASKED)
  yield projectRecord(reading)
}

const VISIBILITIES = { private: 0, internal: 10, public: 20 }

/**
 * Not specified: at GitLab, a project that others see may have features that only members see. Here it becomes private, because nothing
 * of it may become visible to more people.
 */
function visibilityOf({ project, skipped }: Reading): number {
  const levels = [
    project.issues_access_level,
    project.merge_requests_access_level,
    project.repository_access_level,
    project.wiki_access_level,
    project.snippets_access_level
  ]
  if (project.visibility === 'private' || !levels.includes('private')) return VISIBILITIES[project.visibility]
  skipped('visibility of the project', 'only members see some of its features, so it is private here')
  return VISIBILITIES.private
}

function projectRecord(reading: Reading): Draft {
  const { project, created } = reading
  const on = (value: boolean | null | undefined, other = true) => value ?? other
  return {
    kind: 'project',
    name: project.name,
    path: project.path,
    description: project.description ?? null,
    visibility_level: visibilityOf(reading),
    archived: on(project.archived, false),
    default_branch: project.default_branch || null,
    issues_enabled: on(project.issues_enabled),
    merge_requests_enabled: on(project.merge_requests_enabled),
    builds_enabled: on(project.jobs_enabled),
    wiki_enabled: on(project.wiki_enabled),
    snippets_enabled: on(project.snippets_enabled),
    container_registry_enabled: on(project.container_registry_enabled, false),
    lfs_enabled: on(project.lfs_enabled, false),
    shared_runners_enabled: on(project.shared_runners_enabled),
    public_builds: project.builds_access_level !== 'private' && on(project.public_jobs ?? project.public_builds),
    request_access_enabled: on(project.request_access_enabled, false),
    only_allow_merge_if_build_succeeds: on(project.only_allow_merge_if_pipeline_succeeds, false),
    only_allow_merge_if_all_discussions_are_resolved: on(
      project.only_allow_merge_if_all_discussions_are_resolved,
      false
    ),
    tag_list: [...new Set((project.topics ?? project.tag_list ?? []).map(topic => topic.slice(0, 255)))].slice(0, 1000),
    avatar: null,
    created_at: created,
    last_activity_at: firstMoment(project.last_activity_at, project.created_at),
    // The migration counts.
    counters: { issue: 0, milestone: 0, merge_request: 0 }
  }
}

/** The members of the project itself, and of groups that it is shared with. Members of its own group come with the group. */
async function* memberRecords({ client, path, project, created, skipped }: Reading): AsyncGenerator<Draft> {
  const report = { what: 'member', skipped }
  const lists = [await readMembers(client, `${path}/members`, report)]
  for (const { group_id, group_access_level } of project.shared_with_groups ?? [])
    lists.push(await readMembers(client, `groups/${group_id}/members/all`, { ...report, highest: group_access_level }))
  const members = new Map<string, Draft>()
  for (const { username, level, expiresAt } of lists.flat()) {
    const access_level = Math.min(level, 40)
    if (Number(members.get(username)?.access_level ?? 0) >= access_level) continue
    members.set(username, {
      kind: 'member',
      username,
      access_level,
      expires_at: expiresAt ?? null,
      created_at: created
    })
  }
  yield* members.values()
}

async function* labelRecords({ client, path, labels, skipped, created }: Reading): AsyncGenerator<Draft> {
  for await (const page of client.list(`${path}/labels?per_page=100&with_counts=false`, { optional: true })) {
    for (const { name, color, description, priority } of fitting(page, checkLabel, { what: 'label', skipped })) {
      // A label of a group may have the title of a label of the project.
      if (labels.has(name)) continue
      labels.add(name)
      yield {
        kind: 'label',
        title: name,
        color: /^#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})$/.test(color ?? '') ? color : '#808080',
        description: description?.slice(0, 255) || null,
        priority: priority ?? null,
        created_at: created,
        updated_at: created,
        subscriptions: []
      }
    }
  }
}

async function* milestoneRecords(reading: Reading): AsyncGenerator<Draft> {
  const { client, path, milestones, skipped } = reading
  const report = { what: 'milestone', skipped }
  async function* listed() {
    const query = `${path}/milestones?per_page=100&include_parent_milestones=true&include_ancestors=true`
    for await (const page of client.list(query, { optional: true })) yield* fitting(page, checkMilestone, report)
  }
  const found = await held(listed(), report)
  // Milestones of groups have their own numbers, which may be those of milestones of the project. They get numbers after these.
  const own = found.filter(({ group_id }) => !group_id).sort((one, other) => one.iid - other.iid)
  const others = found.filter(({ group_id }) => group_id).sort((one, other) => one.id - other.id)
  let last = own.at(-1)?.iid ?? 0
  for (const milestone of [...own, ...others]) {
    const iid = milestone.group_id ? ++last : milestone.iid
    milestones.set(milestone.id, iid)
    const { title, description, state } = milestone
    const created_at = firstMoment(milestone.created_at, reading.created)
    yield {
      kind: 'milestone',
      iid,
      title,
      description: description || null,
      start_date: momentOf(milestone.start_date)?.slice(0, 10) ?? null,
      due_date: momentOf(milestone.due_date)?.slice(0, 10) ?? null,
      state: state === 'closed' ? 'closed' : 'active',
      created_at,
      updated_at: firstMoment(milestone.updated_at, created_at)
    }
  }
}
