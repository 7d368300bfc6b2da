// Inserts the records of an archive under the id of a project that nobody sees yet. Each function inserts one record with what
// hangs on it, within the transaction of its part of the archive.
import { LRUCache } from 'lru-cache'
import type { PlannedBuild } from '../../ci/plan.js'
import { execute, row, type Value } from '../../db/sql.js'
import { batches } from '../../lib/batches.js'
import { BadProjectArchive, type Kind } from './format.js'
import type { People } from './people.js'
import type { About, RecordOf } from './records.js'

export interface Loading {
  readonly projectId: number
  /** Who stands in for authors who are missing. */
  readonly importerId: number
  readonly people: People
  /** The ids at the target by the title, iid or number of the archive. */
  readonly labels: Map<string, number>
  readonly milestones: Map<number, number>
  readonly snippets: Map<number, number>
  readonly iids: LRUCache<string, { readonly id: number }>
  /** The pipeline of the builds and statuses that follow. */
  pipeline: { readonly number: number; readonly id: number } | null
}

const KEPT_IIDS = 10_000
const ROWS = 200

export const newLoading = (projectId: number, importerId: number, people: People): Loading => ({
  projectId,
  importerId,
  people,
  labels: new Map(),
  milestones: new Map(),
  snippets: new Map(),
  iids: new LRUCache({ max: KEPT_IIDS }),
  pipeline: null
})

type Fields = { readonly [column: string]: Value }

async function insert(table: string, fields: Fields): Promise<number> {
  const names = Object.keys(fields)
  const { insertId } = await execute(
    `insert into ${table} (${names.map(name => `\`${name}\``).join(', ')}) values (${names.map(() => '?').join(', ')})`,
    Object.values(fields)
  )
  return insertId
}

/** Inserts rows of the same columns; what is there already stays, so that a list may name something twice. */
async function insertAll(table: string, list: readonly Fields[]): Promise<void> {
  const names = Object.keys(list[0] ?? {})
  for (const some of batches(list, ROWS)) {
    await execute(
      `insert ignore into ${table} (${names.join(', ')}) values ${some.map(() => `(${names.map(() => '?').join(', ')})`).join(', ')}`,
      some.flatMap(fields => Object.values(fields))
    )
  }
}

const date = (text: string) => new Date(text)
const maybeDate = (text: string | null) => (text === null ? null : new Date(text))
const times = (record: { readonly created_at: string; readonly updated_at: string }) => ({
  created_at: date(record.created_at),
  updated_at: date(record.updated_at)
})
const ran = (record: {
  started_at: string | null
  finished_at: string | null
  created_at: string
  updated_at: string
}) => ({
  started_at: maybeDate(record.started_at),
  finished_at: maybeDate(record.finished_at),
  ...times(record)
})

/** The author, and the text with a line about the one who is missing. */
function written(loading: Loading, author: string, text: string): { author_id: number; text: string } {
  const id = loading.people.idOf(author)
  if (id !== null) return { author_id: id, text }
  const line = `*Imported: ${author} wrote this, who has no account here.*`
  return { author_id: loading.importerId, text: text === '' ? line : `${text}\n\n${line}` }
}

type Target = 'Issue' | 'MergeRequest'

interface Awarded {
  readonly award_emoji: RecordOf<'note'>['award_emoji']
}

/** Emoji of people who are missing are left out: nobody else gave them. */
async function insertAwards({ people }: Loading, type: string, id: number, { award_emoji }: Awarded): Promise<void> {
  const list = award_emoji.flatMap(({ name, user, ...more }) => {
    const userId = people.idOf(user)
    return userId === null ? [] : [{ awardable_type: type, awardable_id: id, name, user_id: userId, ...times(more) }]
  })
  await insertAll('award_emoji', list)
}

async function insertSubscriptions(
  { people, projectId }: Loading,
  type: string,
  id: number,
  { subscriptions, ...record }: Pick<RecordOf<'label'>, 'subscriptions' | 'created_at' | 'updated_at'>
): Promise<void> {
  const list = subscriptions.flatMap(({ user, subscribed }) => {
    const userId = people.idOf(user)
    if (userId === null) return []
    return [{ target_type: type, target_id: id, project_id: projectId, user_id: userId, subscribed, ...times(record) }]
  })
  await insertAll('subscriptions', list)
}

function labelId({ labels }: Loading, title: string): number {
  const id = labels.get(title)
  if (id === undefined)
    throw new BadProjectArchive(`the label ${JSON.stringify(title)} is used, and is not in the archive`)
  return id
}

function milestoneId({ milestones }: Loading, iid: number | null): number | null {
  if (iid === null) return null
  const id = milestones.get(iid)
  if (id === undefined) throw new BadProjectArchive(`the milestone ${iid} is used, and is not in the archive`)
  return id
}

/** What issues and merge requests have alike. */
function planned(loading: Loading, record: RecordOf<'issue'> | RecordOf<'merge_request'>): Fields {
  const { people } = loading
  const { author_id, text } = written(loading, record.author, record.description ?? '')
  return {
    iid: record.iid,
    title: record.title,
    description: record.description === null && text === '' ? null : text,
    state: record.state,
    author_id,
    assignee_id: people.idOf(record.assignee),
    milestone_id: milestoneId(loading, record.milestone),
    updated_by_id: people.idOf(record.updated_by),
    time_estimate: record.time_estimate,
    total_time_spent: record.total_time_spent,
    ...times(record)
  }
}

async function insertPlanned(
  loading: Loading,
  type: Target,
  id: number,
  record: RecordOf<'issue'> | RecordOf<'merge_request'>
): Promise<void> {
  const target = { target_type: type, target_id: id }
  const links = record.labels.map(title => ({ ...target, label_id: labelId(loading, title) }))
  await insertAll('label_links', links)
  const participants = record.participants.flatMap(username => loading.people.idOf(username) ?? [])
  await insertAll(
    'participants',
    participants.map(user_id => ({ ...target, user_id }))
  )
  await insertAll(
    'timelogs',
    record.timelogs.map(({ user, time_spent, created_at }) => ({
      ...target,
      user_id: loading.people.idOf(user),
      time_spent,
      created_at: date(created_at)
    }))
  )
  await insertSubscriptions(loading, type, id, record)
  await insertAwards(loading, type, id, record)
  loading.iids.set(`${type} ${record.iid}`, { id })
}

/** Merge requests from forks keep their number of a project, which nobody has here: their source is gone. */
const LAST_ID = 2_147_483_647

/** What works no longer: nobody runs it here. Its pipeline has the status that its builds then have. */
function ended<T extends { status: string; finished_at: string | null; updated_at: string }>(record: T): T {
  if (!['created', 'pending', 'running'].includes(record.status)) return record
  return { ...record, status: 'canceled', finished_at: record.finished_at ?? record.updated_at }
}

/** The script is not in the archive. Whoever repeats such a build is told. */
const PLAN = JSON.stringify({
  environment: null,
  coverage: null,
  variables: [],
  options: {
    script: ['echo "This build was imported without its script: run a new pipeline instead."', 'exit 1'],
    afterScript: [],
    image: null,
    services: [],
    artifacts: null,
    cache: null,
    dependencies: null
  }
} satisfies Pick<PlannedBuild, 'environment' | 'coverage' | 'variables' | 'options'>)

/** The project itself and its members come last, when all others are there. */
export type LoadedKind = Exclude<Kind, 'project' | 'member'>
type Load<K extends LoadedKind> = (loading: Loading, record: RecordOf<K>) => Promise<void>

const LOADS: { readonly [K in LoadedKind]: Load<K> } = {
  label: async (loading, { kind: _, priority, subscriptions, ...record }) => {
    const project_id = loading.projectId
    const id = await insert('labels', { project_id, ...record, ...times(record) })
    loading.labels.set(record.title, id)
    if (priority !== null) await insert('label_priorities', { project_id, label_id: id, priority })
    await insertSubscriptions(loading, 'Label', id, { subscriptions, ...record })
  },
  milestone: async ({ projectId, milestones }, { kind: _, ...record }) => {
    milestones.set(record.iid, await insert('milestones', { project_id: projectId, ...record, ...times(record) }))
  },
  protected_branch: async ({ projectId }, { kind: _, ...record }) => {
    await insert('protected_branches', { project_id: projectId, ...record, ...times(record) })
  },
  release: async ({ projectId }, { kind: _, ...record }) => {
    await insert('releases', { project_id: projectId, ...record, ...times(record) })
  },
  board: async (loading, { created_at, lists }) => {
    const board_id = await insert('boards', { project_id: loading.projectId, created_at: date(created_at) })
    for (const { label, position, created_at: at } of lists) {
      await insert('board_lists', { board_id, label_id: labelId(loading, label), position, created_at: date(at) })
    }
  },
  issue: async (loading, record) => {
    const { confidential, due_date } = record
    const fields = { ...planned(loading, record), confidential, due_date }
    await insertPlanned(loading, 'Issue', await insert('issues', { project_id: loading.projectId, ...fields }), record)
  },
  merge_request: async (loading, record) => {
    const { projectId } = loading
    const id = await insert('merge_requests', {
      ...planned(loading, record),
      target_project_id: projectId,
      source_project_id: record.fork === null ? projectId : LAST_ID - record.fork,
      target_branch: record.target_branch,
      source_branch: record.source_branch,
      merge_status: record.merge_status,
      head_sha: record.head_sha,
      merge_commit_sha: record.merge_commit_sha,
      merge_error: record.merge_error,
      merge_user_id: loading.people.idOf(record.merge_user),
      merge_message: record.merge_message,
      should_remove_source_branch: record.should_remove_source_branch,
      force_remove_source_branch: record.force_remove_source_branch
    })
    for (const { created_at, ...version } of record.versions) {
      await insert('merge_request_versions', { merge_request_id: id, ...version, created_at: date(created_at) })
    }
    await insertPlanned(loading, 'MergeRequest', id, record)
  },
  snippet: async (loading, record) => {
    const { number, title, file_name, content, visibility_level } = record
    // The content is a file, which gets no line about its author.
    const { author_id } = written(loading, record.author, '')
    const fields = { title, file_name, content, visibility_level, author_id, ...times(record) }
    const id = await insert('snippets', { project_id: loading.projectId, ...fields })
    loading.snippets.set(number, id)
    await insertAwards(loading, 'Snippet', id, record)
  },
  note: async (loading, record) => {
    const { projectId: project_id, people } = loading
    const { author_id, text } = written(loading, record.author, record.note)
    const { on, refers, is_system, path, line, line_type } = record
    const id = await insert('notes', {
      project_id,
      noteable_type: on.type,
      noteable_id: await idOf(loading, on),
      commit_id: on.type === 'Commit' ? (on.commit ?? '') : null,
      author_id,
      note: text,
      is_system,
      path,
      line,
      line_type,
      updated_by_id: people.idOf(record.updated_by),
      refers_type: refers?.type ?? null,
      refers_id: refers ? await idOf(loading, refers) : null,
      refers_project_id: refers ? project_id : null,
      ...times(record)
    })
    await insertAwards(loading, 'Note', id, record)
  },
  pipeline: async (loading, given) => {
    const { kind: _, number, user, committed_at, ...record } = ended(given)
    const id = await insert('pipelines', {
      project_id: loading.projectId,
      ...record,
      user_id: loading.people.idOf(user),
      committed_at: maybeDate(committed_at),
      ...ran(record)
    })
    loading.pipeline = { number, id }
  },
  build: async (loading, given) => {
    const { kind: _, pipeline, user, tag_list, erased_at, queued_at, ...record } = ended(given)
    await insert('builds', {
      project_id: loading.projectId,
      pipeline_id: pipelineId(loading, pipeline),
      ...record,
      user_id: loading.people.idOf(user),
      tag_list: JSON.stringify(tag_list),
      plan: PLAN,
      erased_at: maybeDate(erased_at),
      queued_at: maybeDate(queued_at),
      ...ran(record)
    })
  },
  commit_status: async (loading, given) => {
    const { kind: _, pipeline, user, ...record } = ended(given)
    await insert('commit_statuses', {
      project_id: loading.projectId,
      pipeline_id: pipelineId(loading, pipeline),
      ...record,
      user_id: loading.people.idOf(user),
      ...ran(record)
    })
  }
}

function pipelineId({ pipeline }: Loading, number: number): number {
  if (pipeline?.number !== number)
    throw new BadProjectArchive(`the pipeline ${number} does not stand before its builds`)
  return pipeline.id
}

/** Returns the id of what a note is about, or refers to; null for a commit. Throws BadProjectArchive when it is missing. */
async function idOf({ projectId, snippets, iids }: Loading, { type, number, commit }: About): Promise<number | null> {
  const missing = () => new BadProjectArchive(`a note names ${type} ${number ?? commit}, which is not in the archive`)
  if (type === 'Commit') {
    if (number !== null) throw missing()
    return null
  }
  if (number === null) throw missing()
  const known = type === 'Snippet' ? snippets.get(number) : iids.get(`${type} ${number}`)?.id
  if (known !== undefined) return known
  if (type === 'Snippet') throw missing()
  const table = type === 'Issue' ? 'issues where project_id' : 'merge_requests where target_project_id'
  const found = await row<{ id: number }>(`select id from ${table} = ? and iid = ?`, [projectId, number])
  if (!found) throw missing()
  iids.set(`${type} ${number}`, found)
  return found.id
}

/** Inserts one record. Call it inside `transact`. Throws BadProjectArchive. */
export function loadRecord<K extends LoadedKind>(loading: Loading, record: RecordOf<K>): Promise<void> {
  const load: Load<K> = LOADS[record.kind as K]
  return load(loading, record)
}

/** Counts what is kept in numbers: open issues, and the last iids. Call it inside `transact`, when all records are there. */
export async function finishRecords(projectId: number, counters: RecordOf<'project'>['counters']): Promise<void> {
  await execute('delete from issue_counts where project_id = ?', [projectId])
  await execute(
    `insert into issue_counts (project_id, slot, opened, closed, opened_confidential, closed_confidential)
     select project_id, 0, sum(is_open), sum(not is_open), sum(is_open and confidential), sum(not is_open and confidential)
     from issues where project_id = ? group by project_id`,
    [projectId]
  )
  for (const [kind, table] of COUNTED) {
    await execute(
      `insert into counters (project_id, kind, last)
       select ?, ?, greatest(?, coalesce((select max(iid) from ${table} = ?), 0)) on duplicate key update last = values(last)`,
      [projectId, kind, Math.min(counters[kind], LAST_ID), projectId]
    )
  }
}

const COUNTED = [
  ['issue', 'issues where project_id'],
  ['milestone', 'milestones where project_id'],
  ['merge_request', 'merge_requests where target_project_id']
] as const
