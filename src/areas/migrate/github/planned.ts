// Issues and pull requests of GitHub, which share their numbers.
import { ahead } from '../sources/ahead.js'
import { type Award, awardsOf, firstMoment } from '../sources/shapes.js'
import type { Draft, Person } from '../sources/source.js'
import { inOrder, items, type Reading } from './lists.js'
import { labelTitle } from './settings.js'
import { Issue, Pull, personOf, Reaction } from './shapes.js'

/** What other records of the same project may name. */
export interface Known {
  readonly labels: ReadonlySet<string>
  readonly milestones: ReadonlySet<number>
  /** The numbers of the records so far. */
  readonly issues: Set<number>
  readonly pulls: Set<number>
  /** Pull requests with reactions: only the list of issues says which. */
  readonly reactedPulls: Set<number>
  /** The people who commented, by the number of the record. */
  readonly participants: ReadonlyMap<number, ReadonlySet<string>>
}

export const AT_ONCE = 8
const PULL_LIST = 'pulls?state=all&sort=created&direction=asc'

/** Returns the numbers of all pull requests, before a text is read. The pages stay on the disk for mergeRequestDrafts. */
export async function readPullNumbers(reading: Reading): Promise<Set<number>> {
  const numbers = new Set<number>()
  const quiet = { ...reading, skipped: () => {} }
  for await (const { number } of items(quiet, `${reading.repo}/${PULL_LIST}`, Pull, { what: 'merge request' }))
    numbers.add(number)
  return numbers
}

/** Returns the awards of a record. Only lists of single records say whose they are; `path` is such as `issues/5`. */
export async function readAwards(
  reading: Reading,
  path: string,
  reactions: Issue['reactions']
): Promise<readonly Award[]> {
  if (!reactions || reactions.total_count === 0) return []
  const given: { name: string; user: Person; at: string }[] = []
  const list = items(reading, `${reading.repo}/${path}/reactions`, Reaction, { what: 'award emoji', optional: true })
  for await (const { content, user, created_at } of list)
    given.push({ name: content, user: personOf(user), at: firstMoment(created_at) })
  return awardsOf(given, reading.skipped)
}

/** The fields of issues and merge requests. */
function planned(reading: Reading, found: Issue | Pull, known: Known) {
  const created_at = firstMoment(found.created_at, found.updated_at)
  const assignees = (found.assignees ?? []).map(personOf).filter(name => name !== null)
  const reviewers = 'requested_reviewers' in found ? (found.requested_reviewers ?? []) : []
  const others = [...assignees, ...reviewers.map(personOf).filter(name => name !== null)]
  const assignee: Person = personOf(found.assignee) ?? assignees[0] ?? null
  if (assignees.length > 1) reading.skipped('assignee', 'there is one here; the others become participants')
  return {
    iid: found.number,
    title: found.title.trim() || `#${found.number}`,
    description: found.body ?? null,
    author: personOf(found.user),
    assignee,
    milestone: found.milestone && known.milestones.has(found.milestone.number) ? found.milestone.number : null,
    updated_by: null,
    time_estimate: 0,
    total_time_spent: 0,
    created_at,
    updated_at: firstMoment(found.updated_at, created_at),
    labels: [...new Set(found.labels.map(({ name }) => labelTitle(name)))].filter(title => known.labels.has(title)),
    participants: [...new Set([...others, ...(known.participants.get(found.number) ?? [])])],
    timelogs: [],
    subscriptions: []
  }
}

/** Yields the issues. The list has the pull requests, too, with their reactions. */
export async function* issueDrafts(reading: Reading, known: Known): AsyncGenerator<Draft> {
  const list = inOrder(reading, `${reading.repo}/issues`, Issue, { what: 'issue', optional: true, more: 'state=all' })
  const read = ahead(list, AT_ONCE, async found => {
    const isIssue = !found.pull_request
    return { found, awards: isIssue ? await readAwards(reading, `issues/${found.number}`, found.reactions) : [] }
  })
  for await (const { found, awards } of read) {
    if (found.pull_request && (found.reactions?.total_count ?? 0) > 0) known.reactedPulls.add(found.number)
    if (found.pull_request || known.issues.has(found.number)) continue
    known.issues.add(found.number)
    yield {
      kind: 'issue',
      ...planned(reading, found, known),
      award_emoji: awards,
      state: found.state === 'closed' ? 'closed' : 'opened',
      confidential: false,
      due_date: null
    }
  }
}

function forkOf({ head, base }: Pull): string | null {
  if (head.repo && head.repo.id === base.repo?.id) return null
  return head.repo ? String(head.repo.id) : `deleted ${head.user?.login ?? ''}`
}

/** `mergers` has the people who merged pull requests, which the list does not say. */
export async function* mergeRequestDrafts(
  reading: Reading,
  known: Known,
  mergers: ReadonlyMap<number, { readonly by: Person }>
): AsyncGenerator<Draft> {
  const list = items(reading, `${reading.repo}/${PULL_LIST}`, Pull, { what: 'merge request' })
  const read = ahead(list, AT_ONCE, async found => {
    const reactions = known.reactedPulls.has(found.number) ? { total_count: 1 } : null
    return { found, awards: await readAwards(reading, `issues/${found.number}`, reactions) }
  })
  for await (const { found, awards } of read) {
    if (known.pulls.has(found.number)) continue
    known.pulls.add(found.number)
    yield {
      ...mergeRequestDraft(found, planned(reading, found, known)),
      award_emoji: awards,
      fork: forkOf(found),
      merge_user: merger(found, mergers)
    }
  }
}

const merger = ({ number, merged_at: merged }: Pull, mergers: ReadonlyMap<number, { readonly by: Person }>): Person =>
  merged ? (mergers.get(number)?.by ?? null) : null

const mergeRequestDraft = (found: Pull, fields: ReturnType<typeof planned>): Draft => ({
  kind: 'merge_request',
  ...fields,
  // Not specified: a draft cannot be merged here either.
  title: found.draft && found.state === 'open' ? `WIP: ${fields.title}` : fields.title,
  state: stateOf(found),
  merge_status: found.merged_at ? 'can_be_merged' : 'unchecked',
  target_branch: found.base.ref,
  source_branch: found.head.ref,
  head_sha: found.head.sha,
  // Before the merge, it is a commit that GitHub has made for its tests.
  merge_commit_sha: found.merged_at ? (found.merge_commit_sha ?? null) : null,
  merge_error: null,
  merge_message: null,
  should_remove_source_branch: null,
  force_remove_source_branch: null,
  // GitHub shows only the last version.
  versions: [versionOf(found, fields.created_at)]
})

function stateOf({ state, merged_at: merged }: Pull): 'opened' | 'closed' | 'merged' {
  if (merged) return 'merged'
  return state === 'closed' ? 'closed' : 'opened'
}

/** GitHub names the tip of the target branch, and not the common commit, which the migration finds in the repository. */
const versionOf = ({ head, base }: Pull, created_at: string) => ({
  head_sha: head.sha,
  base_sha: null,
  start_sha: base.sha,
  state: 'collected',
  real_size: '0',
  created_at
})
