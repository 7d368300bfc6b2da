// Issues and pull requests of Gitea, each followed by its notes.
import { ahead } from '../sources/ahead.js'
import { checked, dayOf, firstMoment, fitting, numbered, shaOf } from '../sources/shapes.js'
import type { Draft } from '../sources/source.js'
import { itemsOf, reversedPagesOf } from './lists.js'
import { authorOf, mergeNote, readAwards, readFiles, readNotes, wholeText } from './notes.js'
import { personOf } from './people.js'
import type { Reading } from './reading.js'
import { Issue, type Planned, PullRequest, User } from './shapes.js'

/** Records whose notes are fetched at once. */
const AT_ONCE = 4

const checkIssue = checked(Issue)
const checkPullRequest = checked(PullRequest)
const checkUser = checked(User)

export async function* plannedRecords(reading: Reading): AsyncGenerator<Draft> {
  await readPullNumbers(reading)
  for await (const drafts of ahead(issues(reading), AT_ONCE, issue => issueRecords(reading, issue))) yield* drafts
  if (reading.isGogs) {
    for (const _ of reading.pulls) reading.skipped('merge request', 'the API of Gogs does not show pull requests')
    return
  }
  const report = { what: 'merge request', skipped: reading.skipped }
  const list = itemsOf(reading, `${reading.path}/pulls?state=all&sort=oldest`, checkPullRequest, report)
  const pulls = numbered(list, ({ number }) => number, report)
  for await (const drafts of ahead(pulls, AT_ONCE, found => pullRecords(reading, found))) yield* drafts
}

/** Gogs shows open issues unless it is asked for closed ones. */
const listsOf = ({ path, isGogs }: Reading) =>
  (isGogs ? ['open', 'closed'] : ['all']).map(state => `${path}/issues?state=${state}`)

/** The list of issues has pull requests, too. Texts refer to both by their numbers, so these are known before the first text. */
async function readPullNumbers(reading: Reading) {
  for (const list of listsOf(reading))
    for await (const found of itemsOf(reading, list, checkIssue))
      if (found.pull_request) reading.pulls.add(found.number)
}

/** Merges lists by the numbers of their issues. */
async function* issues(reading: Reading): AsyncGenerator<Issue> {
  const lists = listsOf(reading).map(list => issuesIn(reading, list))
  const next = await Promise.all(lists.map(list => list.next()))
  for (;;) {
    const left = next.flatMap(({ value, done }, at) => (done ? [] : [{ issue: value as Issue, at }]))
    const first = left.toSorted((one, other) => one.issue.number - other.issue.number)[0]
    const list = lists[first?.at ?? 0]
    if (!first || !list) return
    yield first.issue
    next[first.at] = await list.next()
  }
}

/** Yields the issues of a list that starts with the newest. */
async function* issuesIn(reading: Reading, list: string): AsyncGenerator<Issue> {
  let last = 0
  for await (const page of reversedPagesOf(reading, list)) {
    for (const issue of fitting(page, checkIssue, { what: 'issue', skipped: reading.skipped })) {
      // While the pages were fetched, a new issue may have moved the others: then the last of one page is the first of the next.
      if (!issue.pull_request && issue.number > last) yield issue
      last = Math.max(last, issue.number)
    }
  }
}

async function issueRecords(reading: Reading, issue: Issue): Promise<Draft[]> {
  const { fields, notes } = await common(reading, issue, 'Issue')
  return [
    {
      kind: 'issue',
      ...fields,
      state: issue.state === 'closed' ? 'closed' : 'opened',
      confidential: false,
      due_date: dayOf(issue.due_date)
    },
    ...notes
  ]
}

async function pullRecords(reading: Reading, found: PullRequest): Promise<Draft[]> {
  const { fields, notes } = await common(reading, found, 'MergeRequest')
  const merger = found.merged ? await readMerger(reading, found) : null
  const merged = found.merged
    ? mergeNote({ type: 'MergeRequest', number: found.number }, merger, found.merged_at)
    : undefined
  return [
    {
      kind: 'merge_request',
      ...fields,
      state: found.merged ? 'merged' : found.state === 'closed' ? 'closed' : 'opened',
      merge_status: 'unchecked',
      target_branch: branchOf(found.base),
      // The reference of a deleted branch names the pull request instead.
      source_branch: branchOf(found.head),
      fork: forkOf(found),
      head_sha: shaOf(found.head.sha),
      merge_commit_sha: found.merged ? shaOf(found.merge_commit_sha) : null,
      merge_error: null,
      merge_user: merger,
      merge_message: null,
      should_remove_source_branch: null,
      force_remove_source_branch: null,
      versions: versionsOf(found)
    },
    ...notes,
    ...(merged ? [merged] : [])
  ]
}

/** The list leaves out who merged. */
async function readMerger({ client, path }: Reading, { number, merged_by }: PullRequest) {
  const whole = merged_by ? null : checkPullRequest((await client.find(`${path}/pulls/${number}`))?.body)
  return personOf(merged_by ?? whole?.merged_by)
}

/** The id of a deleted fork is -1, or missing. */
const forkOf = ({ head, base }: PullRequest): string | null =>
  head.repo_id === base.repo_id ? null : String(head.repo_id ?? -1)

const branchOf = ({ label, ref }: PullRequest['head']): string => (label || ref || 'unknown').slice(0, 255)

/** Not specified: Gitea only has the current changes. They become one version, which is as old as the pull request. */
function versionsOf({ head, base, merge_base, created_at }: PullRequest) {
  const head_sha = shaOf(head.sha)
  const base_sha = shaOf(merge_base) ?? shaOf(base.sha)
  if (head_sha === null) return []
  const version = { head_sha, base_sha, start_sha: base_sha, state: 'collected', real_size: '0' }
  return [{ ...version, created_at: firstMoment(created_at) }]
}

async function common(reading: Reading, found: Planned, type: 'Issue' | 'MergeRequest') {
  const { path, skipped, milestones } = reading
  const about = { type, number: found.number } as const
  const award_emoji = await readAwards(reading, `${path}/issues/${found.number}`)
  const assets = await readFiles(reading, found.number)
  const notes = await readNotes(reading, about, found.comments)
  const assignees = found.assignees ?? (found.assignee ? [found.assignee] : [])
  if (assignees.length > 1) skipped('assignee', 'a record here has one')
  const timelogs = reading.timelogs.get(found.number) ?? []
  const created_at = firstMoment(found.created_at, found.updated_at)
  const author = authorOf(found.user, found.original_author)
  const writers = notes.flatMap(({ author, is_system }) => (is_system === true ? [] : [author as string | null]))
  const people = [author, ...assignees.map(personOf), ...writers]
  const fields = {
    iid: found.number,
    title: found.title,
    description: wholeText({ ...found, assets }) || null,
    author,
    assignee: personOf(assignees[0]),
    milestone: milestones.get(found.milestone?.id ?? 0) ?? null,
    updated_by: null,
    time_estimate: 0,
    total_time_spent: Math.max(
      0,
      timelogs.reduce((sum, { time_spent }) => sum + time_spent, 0)
    ),
    created_at,
    updated_at: firstMoment(found.updated_at, created_at),
    labels: (found.labels ?? []).map(({ name }) => name),
    participants: [...new Set(people.filter(person => person !== null))],
    timelogs,
    award_emoji,
    subscriptions: await readSubscriptions(reading, found.number)
  }
  return { fields, notes }
}

async function readSubscriptions(reading: Reading, number: number) {
  if (reading.isGogs) return []
  const users = new Set<string>()
  for await (const user of itemsOf(reading, `${reading.path}/issues/${number}/subscriptions`, checkUser)) {
    const username = personOf(user)
    if (username !== null) users.add(username)
  }
  return [...users].map(user => ({ user, subscribed: true }))
}
