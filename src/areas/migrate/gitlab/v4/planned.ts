// Issues and merge requests of GitLab, each followed by its notes.
import { ahead } from '../../sources/ahead.js'
import { holdNotes } from '../../sources/held.js'
import { checked, dayOf, firstMoment, fitting, numbered, shaOf } from '../../sources/shapes.js'
import type { Draft } from '../../sources/source.js'
import { noteRecords, readAwards } from './notes.js'
import { personOf } from './people.js'
import type { Reading } from './reading.js'
import { DiffVersion, Issue, MergeRequest, type Planned } from './shapes.js'

/** Records whose notes are fetched at once. */
const AT_ONCE = 4

const checkIssue = checked(Issue)
const checkMergeRequest = checked(MergeRequest)
const checkVersion = checked(DiffVersion)

export async function* plannedRecords(reading: Reading): AsyncGenerator<Draft> {
  const { skipped } = reading
  const some = numbered(issues(reading), ({ iid }) => iid, { what: 'issue', skipped })
  for await (const records of ahead(some, AT_ONCE, issue => issueRecords(reading, issue))) yield* records()
  const others = numbered(mergeRequests(reading), ({ iid }) => iid, { what: 'merge request', skipped })
  for await (const records of ahead(others, AT_ONCE, found => mergeRequestRecords(reading, found))) yield* records()
}

const ORDER = 'scope=all&state=all&order_by=created_at&sort=asc&per_page=100'

async function* issues({ client, path, skipped }: Reading): AsyncGenerator<Issue> {
  for await (const page of client.list(`${path}/issues?${ORDER}`, { optional: true }))
    yield* fitting(page, checkIssue, { what: 'issue', skipped })
}

async function* mergeRequests({ client, path, skipped }: Reading): AsyncGenerator<MergeRequest> {
  for await (const page of client.list(`${path}/merge_requests?${ORDER}`, { optional: true }))
    yield* fitting(page, checkMergeRequest, { what: 'merge request', skipped })
}

/** Fetches what belongs to a record, and returns a function that yields all of it. */
type Records = () => AsyncGenerator<Draft>

async function issueRecords(reading: Reading, issue: Issue): Promise<Records> {
  const { fields, notes } = await common(reading, issue, 'Issue')
  return async function* () {
    yield {
      kind: 'issue',
      ...fields,
      state: issue.state === 'closed' ? 'closed' : 'opened',
      confidential: issue.confidential === true,
      due_date: dayOf(issue.due_date)
    }
    yield* notes()
  }
}

const STATES: { readonly [state: string]: string } = { closed: 'closed', merged: 'merged' }

async function mergeRequestRecords(reading: Reading, found: MergeRequest): Promise<Records> {
  const { fields, notes } = await common(reading, found, 'MergeRequest')
  const versions = await readVersions(reading, found)
  return async function* () {
    const { merge_status, source_project_id: source, target_project_id: target } = found
    yield {
      kind: 'merge_request',
      ...fields,
      // A merge request is locked only while it is being merged.
      state: STATES[found.state] ?? 'opened',
      merge_status:
        merge_status === 'can_be_merged' || merge_status === 'cannot_be_merged' ? merge_status : 'unchecked',
      target_branch: found.target_branch,
      source_branch: found.source_branch,
      fork: source === target ? null : String(source ?? 'deleted'),
      head_sha: shaOf(found.sha),
      merge_commit_sha: shaOf(found.merge_commit_sha) ?? shaOf(found.squash_commit_sha),
      merge_error: null,
      merge_user: personOf(found.merge_user ?? found.merged_by),
      merge_message: null,
      should_remove_source_branch: found.should_remove_source_branch ?? null,
      force_remove_source_branch: found.force_remove_source_branch ?? null,
      versions
    }
    yield* notes()
  }
}

const PATHS = { Issue: 'issues', MergeRequest: 'merge_requests' } as const

async function common(reading: Reading, record: Planned, type: 'Issue' | 'MergeRequest') {
  const { skipped, milestones } = reading
  const path = `${reading.path}/${PATHS[type]}/${record.iid}`
  const on = { type, number: record.iid, commit: null }
  const award_emoji = await readAwards(reading, path)
  const notes = await holdNotes(() => noteRecords(reading, { path: `${path}/notes`, on, about: record }))
  const assignees = record.assignees ?? (record.assignee ? [record.assignee] : [])
  if (assignees.length > 1) skipped('assignee', 'a record here has one')
  const created_at = firstMoment(record.created_at, record.updated_at)
  const author = personOf(record.author)
  const assignee = personOf(assignees[0])
  const people = [author, ...assignees.map(personOf), ...notes.people]
  const fields = {
    iid: record.iid,
    title: record.title,
    description: record.description ?? null,
    author,
    assignee,
    milestone: milestones.get(record.milestone?.id ?? 0) ?? null,
    updated_by: null,
    time_estimate: record.time_stats?.time_estimate ?? 0,
    total_time_spent: record.time_stats?.total_time_spent ?? 0,
    created_at,
    updated_at: firstMoment(record.updated_at, created_at),
    labels: record.labels ?? [],
    participants: [...new Set(people.filter(person => person !== null))],
    // The API has only the sums.
    timelogs: [],
    award_emoji,
    subscriptions: []
  }
  return { fields, notes: () => drafts(notes.drafts()) }
}

async function* drafts(found: Iterable<Draft> | AsyncIterable<Draft>): AsyncGenerator<Draft> {
  yield* found
}

async function readVersions({ client, path, skipped }: Reading, { iid, created_at }: MergeRequest) {
  const versions: { [name: string]: unknown }[] = []
  for await (const page of client.list(`${path}/merge_requests/${iid}/versions?per_page=100`, { optional: true })) {
    for (const found of fitting(page, checkVersion, { what: 'version of a merge request', skipped })) {
      const head_sha = shaOf(found.head_commit_sha)
      if (head_sha === null) continue
      versions.push({
        head_sha,
        base_sha: shaOf(found.base_commit_sha),
        start_sha: shaOf(found.start_commit_sha),
        state: stateOf(found.state ?? ''),
        real_size: /^\d{1,10}\+?$/.test(found.real_size ?? '') ? found.real_size : '0',
        created_at: firstMoment(found.created_at, created_at)
      })
    }
  }
  // The newest comes first in the list.
  return versions.reverse()
}

function stateOf(state: string): 'collected' | 'empty' | 'overflow' {
  if (state === 'empty' || state === 'without_files') return 'empty'
  return state.startsWith('overflow') ? 'overflow' : 'collected'
}
