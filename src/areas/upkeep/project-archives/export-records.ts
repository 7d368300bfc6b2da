// Turns the rows of a project into the records of an archive.
import { parseStored } from '../../../lib/stored-json.js'
import { isWebAddress } from '../../ci/environments/environments.js'
import { SWITCHES } from '../../projects/projects/projects.queries.js'
import type { ProjectRows, Row } from './export-rows.js'
import type { Kind } from './format.js'

/** A record before it is checked. */
export interface Draft {
  readonly kind: Kind
  readonly [name: string]: unknown
}

export const at = (value: unknown): string | null => (value instanceof Date ? value.toISOString() : null)
export const times = (row: Row) => ({ created_at: at(row.created_at), updated_at: at(row.updated_at) })
const ran = (row: Row) => ({ started_at: at(row.started_at), finished_at: at(row.finished_at), ...times(row) })
export const flag = (value: unknown) => (value === null ? null : Boolean(value))
export const without = (row: Row, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'id' && !names.includes(name)))

export async function projectRecord(source: ProjectRows, id: number): Promise<Draft> {
  const [project] = await source.rows(
    `select id, name, path, description, visibility_level, default_branch, tag_list, avatar, created_at, last_activity_at,
       ${SWITCHES.join(', ')} from projects where id = ?`,
    [id]
  )
  const counters = await source.rows<{ kind: string; last: number }>(
    'select kind, last from counters where project_id = ?',
    [id]
  )
  const row = project ?? { id }
  const lastOf = (kind: string) => counters.find(each => each.kind === kind)?.last ?? 0
  return {
    kind: 'project',
    ...without(row),
    ...Object.fromEntries(SWITCHES.map(name => [name, flag(row[name])])),
    tag_list: parseStored<string[]>(String(row.tag_list), []),
    created_at: at(row.created_at),
    last_activity_at: at(row.last_activity_at),
    counters: { issue: lastOf('issue'), milestone: lastOf('milestone'), merge_request: lastOf('merge_request') }
  }
}

/**
 * The ids of the labels: those of the project, and the labels of groups that it uses, which become labels of the project. Labels
 * with the same title are merged into one.
 */
export async function labelIds(source: ProjectRows, id: number): Promise<readonly number[]> {
  const found = await source.rows<{ id: number }>(
    `select coalesce(min(if(l.project_id = ?, l.id, null)), min(l.id)) as id from labels l
     where l.project_id = ? or l.group_id is not null and l.id in (
       select k.label_id from issues i join label_links k on k.target_type = 'Issue' and k.target_id = i.id where i.project_id = ?
       union select k.label_id from merge_requests m join label_links k on k.target_type = 'MergeRequest' and k.target_id = m.id
         where m.target_project_id = ?
       union select t.label_id from boards b join board_lists t on t.board_id = b.id where b.project_id = ?
       union select label_id from label_priorities where project_id = ?
       union select target_id from subscriptions where project_id = ? and target_type = 'Label')
     group by l.title order by 1`,
    [id, id, id, id, id, id, id]
  )
  return found.map(each => each.id)
}

export async function* labelRecords(source: ProjectRows, id: number, ids: readonly number[]): AsyncGenerator<Draft> {
  for (const label of ids) {
    const [row] = await source.rows(
      `select l.id, l.title, l.color, l.description, p.priority, l.created_at, l.updated_at from labels l
       left join label_priorities p on p.label_id = l.id and p.project_id = ? where l.id = ?`,
      [id, label]
    )
    if (!row) continue
    const subscriptions = await source.rows(
      `select straight_join u.username as user, s.subscribed from subscriptions s join users u on u.id = s.user_id
       where s.target_type = 'Label' and s.target_id = ? and s.project_id = ?`,
      [label, id]
    )
    yield { kind: 'label', ...without(row), ...times(row), subscriptions: subscriptions.map(subscriptionOf) }
  }
}

const subscriptionOf = (row: Row) => ({ user: row.user, subscribed: flag(row.subscribed) })

export async function* boardRecords(source: ProjectRows, id: number): AsyncGenerator<Draft> {
  for (const board of await source.rows('select id, created_at from boards where project_id = ?', [id])) {
    const lists = await source.rows(
      `select straight_join x.id, l.title as label, x.position, x.created_at from board_lists x join labels l on l.id = x.label_id
       where x.board_id = ? order by x.position, x.id`,
      [board.id]
    )
    yield {
      kind: 'board',
      created_at: at(board.created_at),
      lists: lists.map(row => ({ label: row.label, position: row.position, created_at: at(row.created_at) }))
    }
  }
}

type Target = 'Issue' | 'MergeRequest'
/** Rows that belong to the records of a page, by the id of the record. */
type Hanging = (id: number) => readonly Row[]

async function hanging(source: ProjectRows, sql: string, values: readonly unknown[]): Promise<Hanging> {
  const found = new Map<number, Row[]>()
  for (const row of await source.rows(sql, values)) {
    const of = Number(row.of)
    found.set(of, [...(found.get(of) ?? []), row])
  }
  return id => found.get(id) ?? []
}

async function awardsOf(source: ProjectRows, type: string, ids: readonly number[]) {
  const found = await hanging(
    source,
    `select straight_join x.id, x.awardable_id as 'of', x.name, u.username as user, x.created_at, x.updated_at from award_emoji x
     join users u on u.id = x.user_id where x.awardable_type = ? and x.awardable_id in (?) order by x.id`,
    [type, ids]
  )
  return (id: number) => found(id).map(row => ({ name: row.name, user: row.user, ...times(row) }))
}

/** Reads what issues and merge requests have in common. */
async function plannedOf(source: ProjectRows, project: number, type: Target, ids: readonly number[]) {
  const values = [type, ids]
  const labels = await hanging(
    source,
    `select straight_join k.target_id as 'of', l.title from label_links k join labels l on l.id = k.label_id
     where k.target_type = ? and k.target_id in (?) order by l.title`,
    values
  )
  const participants = await hanging(
    source,
    `select straight_join x.target_id as 'of', u.username from participants x join users u on u.id = x.user_id
     where x.target_type = ? and x.target_id in (?)`,
    values
  )
  const subscriptions = await hanging(
    source,
    `select straight_join x.target_id as 'of', u.username as user, x.subscribed from subscriptions x join users u on u.id = x.user_id
     where x.target_type = ? and x.target_id in (?) and x.project_id = ?`,
    [...values, project]
  )
  const timelogs = await hanging(
    source,
    `select straight_join x.id, x.target_id as 'of', u.username as user, x.time_spent, x.created_at from timelogs x
     left join users u on u.id = x.user_id where x.target_type = ? and x.target_id in (?) order by x.id`,
    values
  )
  const awards = await awardsOf(source, type, ids)
  return ({ id }: Row) => ({
    labels: [...new Set(labels(id).map(({ title }) => title))],
    participants: participants(id).map(({ username }) => username),
    subscriptions: subscriptions(id).map(subscriptionOf),
    timelogs: timelogs(id).map(row => ({ user: row.user, time_spent: row.time_spent, created_at: at(row.created_at) })),
    award_emoji: awards(id)
  })
}

const idsOf = (page: readonly Row[]) => page.map(({ id }) => id)

export async function* issueRecords(source: ProjectRows, id: number): AsyncGenerator<Draft> {
  for await (const page of source.pages('issue')) {
    const more = await plannedOf(source, id, 'Issue', idsOf(page))
    for (const row of page)
      yield { kind: 'issue', ...without(row), ...times(row), confidential: flag(row.confidential), ...more(row) }
  }
}

export async function* mergeRequestRecords(source: ProjectRows, id: number): AsyncGenerator<Draft> {
  const forks = new Map<unknown, number>()
  for await (const page of source.pages('merge_request')) {
    const more = await plannedOf(source, id, 'MergeRequest', idsOf(page))
    const versions = await hanging(
      source,
      `select straight_join x.merge_request_id as 'of', x.head_sha, x.base_sha, x.start_sha, x.state, x.real_size, x.created_at
       from merge_request_versions x where x.merge_request_id in (?) order by x.id`,
      [idsOf(page)]
    )
    for (const row of page) {
      if (row.fork !== null && !forks.has(row.fork)) forks.set(row.fork, forks.size + 1)
      yield {
        kind: 'merge_request',
        ...without(row),
        ...times(row),
        // A merge that runs now does not finish in the archive.
        state: row.state === 'locked' ? 'opened' : row.state,
        fork: row.fork === null ? null : forks.get(row.fork),
        should_remove_source_branch: flag(row.should_remove_source_branch),
        force_remove_source_branch: flag(row.force_remove_source_branch),
        versions: versions(row.id).map(each => ({ ...without(each, 'of'), created_at: at(each.created_at) })),
        ...more(row)
      }
    }
  }
}

/** Assigns numbers to snippets; `numbers` maps their ids to them. */
export async function* snippetRecords(source: ProjectRows, numbers: Map<number, number>): AsyncGenerator<Draft> {
  for await (const page of source.pages('snippet')) {
    const awards = await awardsOf(source, 'Snippet', idsOf(page))
    for (const row of page) {
      numbers.set(row.id, numbers.size + 1)
      yield {
        kind: 'snippet',
        number: numbers.size,
        ...without(row),
        ...times(row),
        award_emoji: awards(row.id)
      }
    }
  }
}

export async function* noteRecords(source: ProjectRows, snippets: ReadonlyMap<number, number>): AsyncGenerator<Draft> {
  for await (const page of source.notes()) {
    const awards = await awardsOf(source, 'Note', idsOf(page))
    for (const row of page) {
      const { noteable_type: type, refers_type: refers } = row
      yield {
        kind: 'note',
        on: {
          type,
          number: type === 'Snippet' ? (snippets.get(Number(row.noteable_id)) ?? null) : row.on_iid,
          commit: row.commit_id
        },
        refers:
          refers === null
            ? null
            : {
                type: refers,
                number: refers === 'Snippet' ? (snippets.get(Number(row.refers_id)) ?? null) : row.refers_iid,
                commit: null
              },
        ...without(
          row,
          'noteable_type',
          'noteable_id',
          'on_iid',
          'commit_id',
          'refers_type',
          'refers_id',
          'refers_iid'
        ),
        is_system: flag(row.is_system),
        ...times(row),
        award_emoji: awards(row.id)
      }
    }
  }
}

/** What the archive has about builds in addition to their records. */
export interface KnownBuilds {
  /** Builds that have deployed: id -> number in the archive. */
  readonly deployed: Map<number, number>
  /** Called with the number of each build that has files, and where these are. */
  readonly noteFiles: (number: number, build: Row) => { readonly trace: boolean; readonly artifacts: boolean }
}

export async function* pipelineRecords(source: ProjectRows, known: KnownBuilds): AsyncGenerator<Draft> {
  let number = 0
  let builds = 0
  for await (const page of source.pages('pipeline')) {
    for (const row of page) {
      number++
      yield {
        kind: 'pipeline',
        number,
        ...without(row),
        tag: flag(row.tag),
        committed_at: at(row.committed_at),
        ...ran(row)
      }
      for await (const some of source.ofPipeline('build', row.id)) {
        for (const build of some) yield buildRecord(build, { pipeline: number, number: ++builds }, known)
      }
      for await (const some of source.ofPipeline('commit_status', row.id)) {
        for (const status of some)
          yield { kind: 'commit_status', pipeline: number, ...without(status, 'pipeline_id'), ...ran(status) }
      }
    }
  }
}

/** Columns that have no property of their own in a record. */
const OF_FILES = [
  'pipeline_id',
  'attempt',
  'trace_size',
  'artifacts_attempt',
  'artifacts_filename',
  'artifacts_expire_at'
] as const

function buildRecord(row: Row, numbers: { pipeline: number; number: number }, known: KnownBuilds): Draft {
  if (row.deployed === 1) known.deployed.set(row.id, numbers.number)
  const { trace, artifacts } = known.noteFiles(numbers.number, row)
  const url = row.environment_url
  return {
    kind: 'build',
    ...numbers,
    ...without(row, 'deployed', ...OF_FILES),
    tag: flag(row.tag),
    allow_failure: flag(row.allow_failure),
    tag_list: parseStored<string[]>(String(row.tag_list), []),
    erased_at: at(row.erased_at),
    queued_at: at(row.queued_at),
    // A job may have given another text than an address.
    environment_url: typeof url === 'string' && isWebAddress(url) ? url : null,
    trace,
    artifacts: artifacts ? { filename: row.artifacts_filename, expire_at: at(row.artifacts_expire_at) } : null,
    ...ran(row)
  }
}
