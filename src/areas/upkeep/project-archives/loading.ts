// What the records of an archive have in common when they are inserted: people, labels, awards and subscriptions.
import { LRUCache } from 'lru-cache'
import { execute, type Value } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'
import { BadProjectArchive } from './format.js'
import type { People } from './people.js'
import type { RecordOf } from './records.js'

export interface Loading {
  readonly projectId: number
  /** The user who replaces missing authors. */
  readonly importerId: number
  readonly people: People
  /** Ids at the target by the title, iid or number in the archive. */
  readonly labels: Map<string, number>
  readonly milestones: Map<number, number>
  readonly snippets: Map<number, number>
  readonly environments: Map<string, number>
  /** The ids of builds that deployments and files name, by their numbers. */
  readonly builds: { readonly [K in 'deployed' | 'traces' | 'artifacts']: Map<number, number> }
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
  environments: new Map(),
  builds: { deployed: new Map(), traces: new Map(), artifacts: new Map() },
  iids: new LRUCache({ max: KEPT_IIDS }),
  pipeline: null
})

type Fields = { readonly [column: string]: Value }

export async function insert(table: string, fields: Fields): Promise<number> {
  const names = Object.keys(fields)
  const { insertId } = await execute(
    `insert into ${table} (${names.map(name => `\`${name}\``).join(', ')}) values (${names.map(() => '?').join(', ')})`,
    Object.values(fields)
  )
  return insertId
}

/** Inserts rows with the same columns; existing ones stay, so that a list may contain duplicates. */
async function insertAll(table: string, list: readonly Fields[]): Promise<void> {
  const names = Object.keys(list[0] ?? {})
  for (const some of batches(list, ROWS)) {
    await execute(
      `insert ignore into ${table} (${names.join(', ')}) values ${some.map(() => `(${names.map(() => '?').join(', ')})`).join(', ')}`,
      some.flatMap(fields => Object.values(fields))
    )
  }
}

export const date = (text: string) => new Date(text)
export const maybeDate = (text: string | null) => (text === null ? null : new Date(text))
export const times = (record: { readonly created_at: string; readonly updated_at: string }) => ({
  created_at: date(record.created_at),
  updated_at: date(record.updated_at)
})
export const ran = (record: {
  started_at: string | null
  finished_at: string | null
  created_at: string
  updated_at: string
}) => ({
  started_at: maybeDate(record.started_at),
  finished_at: maybeDate(record.finished_at),
  ...times(record)
})

/** Returns the author, and the text with a line about a missing author. */
export function written(loading: Loading, author: string, text: string): { author_id: number; text: string } {
  const id = loading.people.idOf(author)
  if (id !== null) return { author_id: id, text }
  const line = `*Imported: written by ${author}, who has no account here.*`
  return { author_id: loading.importerId, text: text === '' ? line : `${text}\n\n${line}` }
}

type Target = 'Issue' | 'MergeRequest'

interface Awarded {
  readonly award_emoji: RecordOf<'note'>['award_emoji']
}

/** Emoji of missing people are omitted: nobody else awarded them. */
export async function insertAwards(
  { people }: Loading,
  type: string,
  id: number,
  { award_emoji }: Awarded
): Promise<void> {
  const list = award_emoji.flatMap(({ name, user, ...more }) => {
    const userId = people.idOf(user)
    return userId === null ? [] : [{ awardable_type: type, awardable_id: id, name, user_id: userId, ...times(more) }]
  })
  await insertAll('award_emoji', list)
}

export async function insertSubscriptions(
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

export function labelId({ labels }: Loading, title: string): number {
  const id = labels.get(title)
  if (id === undefined)
    throw new BadProjectArchive(`the label ${JSON.stringify(title)} is used but is not in the archive`)
  return id
}

export function environmentId({ environments }: Loading, name: string): number {
  const id = environments.get(name)
  if (id === undefined)
    throw new BadProjectArchive(`the environment ${JSON.stringify(name)} is used but is not in the archive`)
  return id
}

function milestoneId({ milestones }: Loading, iid: number | null): number | null {
  if (iid === null) return null
  const id = milestones.get(iid)
  if (id === undefined) throw new BadProjectArchive(`the milestone ${iid} is used but is not in the archive`)
  return id
}

/** What issues and merge requests have in common. */
export function planned(loading: Loading, record: RecordOf<'issue'> | RecordOf<'merge_request'>): Fields {
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

export async function insertPlanned(
  loading: Loading,
  type: Target,
  id: number,
  record: RecordOf<'issue'> | RecordOf<'merge_request'>
): Promise<void> {
  const target = { target_type: type, target_id: id }
  const copies = {
    of_project: loading.projectId,
    of_author: loading.people.idOf(record.author) ?? loading.importerId,
    of_created_at: date(record.created_at)
  }
  const links = record.labels.map(title => ({ ...target, label_id: labelId(loading, title), ...copies }))
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

/** Merge requests from forks keep the number of a project that does not exist here: their source is deleted. */
export const LAST_ID = 2_147_483_647
