// The records of a repository of Gitea.
import { OTHER_SETTINGS } from '../../upkeep/project-archives/other-settings.js'
import { held } from '../sources/held.js'
import { checked, dayOf, firstMoment } from '../sources/shapes.js'
import type { Draft } from '../sources/source.js'
import { itemsOf } from './lists.js'
import { readMembers } from './people.js'
import { plannedRecords } from './planned.js'
import type { Reading } from './reading.js'
import { settingRecords } from './settings.js'
import { Label, Milestone, type Repository, Topics, TrackedTime } from './shapes.js'

/** Times are kept in memory, because the list is one of the whole repository. */
const MOST_TIMELOGS = 200_000

const checkLabel = checked(Label)
const checkMilestone = checked(Milestone)
const checkTopics = checked(Topics)
const checkTime = checked(TrackedTime)

type Given = Pick<Reading, 'client' | 'base' | 'repository' | 'skipped' | 'isGogs' | 'pulls'>

export async function* repositoryRecords(given: Given): AsyncGenerator<Draft> {
  const reading: Reading = {
    ...given,
    path: `repos/${given.repository.full_name}`,
    created: firstMoment(given.repository.created_at),
    isOfOrganization: (await given.client.find(`orgs/${given.repository.owner.login}`)) !== null,
    milestones: new Map(),
    timelogs: new Map()
  }
  yield* memberRecords(reading)
  yield* labelRecords(reading)
  yield* milestoneRecords(reading)
  if (!reading.isGogs) await readTimes(reading)
  yield* plannedRecords(reading)
  yield* settingRecords(reading)
  yield await projectRecord(reading)
}

/** 0 for the members, 10 for all users of the appliance, 20 for everybody. */
function visibilityOf({ private: isPrivate, internal, owner }: Repository): 0 | 10 | 20 {
  if (isPrivate || owner.visibility === 'private') return 0
  return internal || owner.visibility === 'limited' ? 10 : 20
}

async function projectRecord({ repository, client, path, created }: Reading): Promise<Draft> {
  const topics = repository.topics ?? checkTopics((await client.find(`${path}/topics`))?.body)?.topics ?? []
  return {
    kind: 'project',
    name: repository.name,
    path: repository.name,
    description: repository.description || null,
    visibility_level: visibilityOf(repository),
    archived: repository.archived === true,
    default_branch: repository.empty === true ? null : repository.default_branch || null,
    issues_enabled: repository.has_issues !== false,
    merge_requests_enabled: repository.has_pull_requests !== false,
    builds_enabled: repository.has_actions !== false,
    wiki_enabled: repository.has_wiki !== false,
    snippets_enabled: true,
    container_registry_enabled: false,
    ...OTHER_SETTINGS,
    tag_list: [...new Set(topics.map(topic => topic.slice(0, 255)))].slice(0, 1000),
    avatar: null,
    created_at: created,
    last_activity_at: firstMoment(repository.updated_at, repository.created_at),
    // The migration counts.
    counters: { issue: 0, milestone: 0, merge_request: 0 }
  }
}

async function* memberRecords(reading: Reading): AsyncGenerator<Draft> {
  for (const { username, level } of await readMembers(reading)) {
    const access_level = Math.min(level, 40)
    yield { kind: 'member', username, access_level, expires_at: null, created_at: reading.created }
  }
}

/** Labels of the repository, and of its organization. */
async function* labelRecords(reading: Reading): AsyncGenerator<Draft> {
  const { path, repository, skipped, created } = reading
  const lists = [`${path}/labels`, ...(reading.isOfOrganization ? [`orgs/${repository.owner.login}/labels`] : [])]
  for (const list of lists) {
    for await (const { name, color, description } of itemsOf(reading, list, checkLabel, { what: 'label', skipped })) {
      const [, digits] = /^#?([0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})$/.exec(color ?? '') ?? []
      yield {
        kind: 'label',
        title: name,
        color: `#${digits ?? '808080'}`,
        description: description?.slice(0, 255) || null,
        priority: null,
        created_at: created,
        updated_at: created,
        subscriptions: []
      }
    }
  }
}

async function* milestoneRecords(reading: Reading): AsyncGenerator<Draft> {
  const { path, milestones, skipped, created } = reading
  const report = { what: 'milestone', skipped }
  const found = await held(itemsOf(reading, `${path}/milestones?state=all`, checkMilestone, report), report)
  for (const milestone of found.sort((one, other) => one.id - other.id)) {
    const iid = milestones.size + 1
    milestones.set(milestone.id, iid)
    const created_at = firstMoment(milestone.created_at, created)
    yield {
      kind: 'milestone',
      iid,
      title: milestone.title,
      description: milestone.description || null,
      start_date: null,
      due_date: dayOf(milestone.due_on),
      state: milestone.state === 'closed' ? 'closed' : 'active',
      created_at,
      updated_at: firstMoment(milestone.updated_at, milestone.closed_at, created_at)
    }
  }
}

async function readTimes(reading: Reading) {
  const { path, timelogs, skipped } = reading
  let times = 0
  for await (const found of itemsOf(reading, `${path}/times`, checkTime, { what: 'tracked time', skipped })) {
    if (++times > MOST_TIMELOGS) {
      skipped('tracked time', `there are more than ${MOST_TIMELOGS}`)
      continue
    }
    const { number } = found.issue
    const timelog = { user: found.user_name || null, time_spent: found.time, created_at: firstMoment(found.created) }
    const known = timelogs.get(number)
    if (known) known.push(timelog)
    else timelogs.set(number, [timelog])
  }
}
