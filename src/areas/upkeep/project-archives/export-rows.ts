// Reads the rows of a project from a snapshot, page by page. It omits texts whose author no longer exists, because nobody can see
// them any more.
import type { Snapshot } from '../../../db/snapshot/snapshot.js'
import type { Kind } from './format.js'

export interface Row {
  readonly id: number
  readonly [column: string]: unknown
}

const PAGE = 100

/** Where the rows of a kind are stored: in the table, as `x`. */
interface Source {
  readonly table: string
  /** Selects the rows of one owner, only by their own columns; the first value is the id of the owner. */
  readonly where: string
  /** The column that orders them in an index: a page continues where the previous one ended. */
  readonly key: string
  readonly columns: string
  readonly joins: string
  /** A condition on the joined rows. */
  readonly more?: string
}

/** Joins the users that the columns name. */
const named = (...columns: readonly string[]) =>
  columns.map(column => `left join users ${column}_user on ${column}_user.id = x.${column}_id`).join(' ')
const AUTHOR = 'join users author on author.id = x.author_id'
const DAY = (column: string) => `date_format(x.${column}, '%Y-%m-%d') as ${column}`
const PLANNED = `x.id, x.iid, x.title, x.description, x.state, author.username as author, assignee_user.username as assignee,
  m.iid as milestone, updated_by_user.username as updated_by, x.time_estimate, x.total_time_spent, x.created_at, x.updated_at`
const PLANNED_JOINS = `${AUTHOR} ${named('assignee', 'updated_by')} left join milestones m on m.id = x.milestone_id`
const RAN = 'x.started_at, x.finished_at, x.created_at, x.updated_at'

/**
 * Notes that refer to other projects are omitted, because the target does not know who may see them. Notes about targets without
 * an author are omitted too, because nobody can see those any more.
 */
const NOTES: Source = {
  table: 'notes',
  where: 'x.project_id = ?',
  key: 'id',
  columns: `x.id, x.noteable_type, x.noteable_id, coalesce(i.iid, r.iid) as on_iid, x.commit_id, author.username as author,
    x.note, x.is_system, x.path, x.line, x.line_type, updated_by_user.username as updated_by, x.refers_type, x.refers_id,
    coalesce(ri.iid, rr.iid) as refers_iid, x.created_at, x.updated_at`,
  joins: `${AUTHOR} ${named('updated_by')}
    left join issues i on x.noteable_type = 'Issue' and i.id = x.noteable_id and i.project_id = x.project_id
    left join merge_requests r on x.noteable_type = 'MergeRequest' and r.id = x.noteable_id and r.deleted_at is null
      and r.target_project_id = x.project_id
    left join snippets s on x.noteable_type = 'Snippet' and s.id = x.noteable_id and s.project_id = x.project_id
    left join users w on w.id = coalesce(i.author_id, r.author_id, s.author_id)
    left join issues ri on x.refers_type = 'Issue' and ri.id = x.refers_id and ri.project_id = x.project_id
    left join merge_requests rr on x.refers_type = 'MergeRequest' and rr.id = x.refers_id and rr.deleted_at is null
      and rr.target_project_id = x.project_id
    left join snippets rs on x.refers_type = 'Snippet' and rs.id = x.refers_id and rs.project_id = x.project_id
    left join users v on v.id = coalesce(ri.author_id, rr.author_id, rs.author_id)`,
  more: `and (x.noteable_type = 'Commit' or w.id is not null) and (x.refers_type is null or v.id is not null
    or x.refers_type = 'Commit' and x.refers_project_id = x.project_id)`
}

type PagedKind = Exclude<Kind, 'project' | 'label' | 'board' | 'note' | 'build' | 'commit_status'>

const SOURCES: { readonly [K in PagedKind]: Source } = {
  member: {
    key: 'user_id',
    columns: `x.id, x.user_id, u.username, x.access_level, ${DAY('expires_at')}, x.created_at`,
    table: 'members',
    where: "x.source_type = 'project' and x.source_id = ?",
    joins: 'join users u on u.id = x.user_id'
  },
  milestone: {
    key: 'iid',
    columns: `x.id, x.iid, x.title, x.description, ${DAY('start_date')}, ${DAY('due_date')}, x.state, x.created_at, x.updated_at`,
    table: 'milestones',
    where: 'x.project_id = ?',
    joins: ''
  },
  protected_branch: {
    key: 'name',
    columns: 'x.id, x.name, x.developers_can_push, x.developers_can_merge, x.created_at, x.updated_at',
    table: 'protected_branches',
    where: 'x.project_id = ?',
    joins: ''
  },
  release: {
    key: 'tag',
    columns: 'x.id, x.tag, x.description, x.created_at, x.updated_at',
    table: 'releases',
    where: 'x.project_id = ?',
    joins: ''
  },
  hook: {
    key: 'id',
    columns: `x.id, x.url, x.token_encrypted, x.push_events, x.tag_push_events, x.issues_events, x.confidential_issues_events,
      x.merge_requests_events, x.note_events, x.build_events, x.pipeline_events, x.wiki_page_events, x.enable_ssl_verification,
      x.created_at, x.updated_at`,
    table: 'hooks',
    where: 'x.project_id = ?',
    joins: ''
  },
  variable: {
    key: 'id',
    columns: `x.id, x.name as \`key\`, x.value_encrypted, x.masked, x.protected, x.environment_scope, x.created_at, x.updated_at`,
    table: 'variables',
    where: 'x.project_id = ?',
    joins: ''
  },
  pipeline_schedule: {
    key: 'id',
    columns: `x.id, x.description, x.ref, x.cron, owner.username as owner, x.variables_encrypted, x.created_at, x.updated_at`,
    table: 'pipeline_schedules',
    where: 'x.project_id = ?',
    joins: 'left join users owner on owner.id = x.user_id'
  },
  environment: {
    key: 'id',
    columns: 'x.id, x.name, x.slug, x.external_url, x.state, x.tier, x.created_at, x.updated_at',
    table: 'environments',
    where: 'x.project_id = ?',
    joins: ''
  },
  issue: {
    key: 'iid',
    columns: `${PLANNED}, x.confidential, ${DAY('due_date')}`,
    table: 'issues',
    where: 'x.project_id = ?',
    joins: PLANNED_JOINS
  },
  merge_request: {
    key: 'iid',
    columns: `${PLANNED}, x.merge_status, x.target_branch, x.source_branch,
      if(x.source_project_id = x.target_project_id, null, x.source_project_id) as fork, x.head_sha, x.merge_commit_sha,
      x.merge_error, merge_user_user.username as merge_user, x.merge_message, x.should_remove_source_branch,
      x.force_remove_source_branch`,
    table: 'merge_requests',
    where: 'x.target_project_id = ? and x.deleted_at is null',
    joins: `${PLANNED_JOINS} ${named('merge_user')}`
  },
  snippet: {
    key: 'id',
    columns: `x.id, author.username as author, x.title, x.file_name, x.content, x.visibility_level, x.created_at, x.updated_at`,
    table: 'snippets',
    where: 'x.project_id = ?',
    joins: AUTHOR
  },
  pipeline: {
    key: 'id',
    columns: `x.id, x.ref, x.tag, x.sha, x.before_sha, x.status, x.source, x.yaml_errors, user_user.username as user,
      x.committed_at, x.duration, x.coverage, ${RAN}`,
    table: 'pipelines',
    where: 'x.project_id = ?',
    joins: named('user')
  },
  deployment: {
    key: 'iid',
    columns: `x.id, x.iid, e.name as environment, x.build_id, x.ref, x.tag, x.sha, user_user.username as user, x.created_at`,
    table: 'deployments',
    where: 'x.project_id = ?',
    joins: `join environments e on e.id = x.environment_id and e.project_id = x.project_id
      join builds b on b.id = x.build_id and b.project_id = x.project_id ${named('user')}`
  }
}

/** Builds and statuses of pipelines. */
const OF_PIPELINES: { readonly [K in OfPipeline]: Source } = {
  build: {
    columns: `x.id, x.pipeline_id, x.name, x.stage, x.stage_index, x.ref, x.tag, x.sha, x.status, x.start_when, x.allow_failure,
      x.tag_list, user_user.username as user, x.coverage, x.failure_reason, x.exit_code, x.erased_at, x.queued_at,
      e.name as environment, x.environment_url, exists(select 1 from deployments d where d.build_id = x.id) as deployed, x.attempt,
      if(x.erased_at is null, x.trace_size, 0) as trace_size, x.artifacts_attempt, x.artifacts_filename, x.artifacts_expire_at, ${RAN}`,
    table: 'builds',
    where: 'x.pipeline_id = ?',
    key: 'id',
    joins: `${named('user')} left join environments e on e.id = x.environment_id and e.project_id = x.project_id`
  },
  commit_status: {
    columns: `x.id, x.pipeline_id, x.sha, x.ref, x.name, x.status, x.target_url, x.description, user_user.username as user, ${RAN}`,
    table: 'commit_statuses',
    where: 'x.pipeline_id = ?',
    key: 'id',
    joins: named('user')
  }
}
type OfPipeline = 'build' | 'commit_status'

export interface ProjectRows {
  /** The rows of a kind, in pages, in the order of their numbers, names or ids. */
  pages(kind: PagedKind): AsyncGenerator<readonly Row[]>
  /** Notes in the order of their ids: those about issues, merge requests and snippets, then those about commits. */
  notes(): AsyncGenerator<readonly Row[]>
  /** Builds or statuses of pipelines, in the order of their ids. */
  ofPipeline(kind: OfPipeline, pipelineId: number): AsyncGenerator<readonly Row[]>
  count(kind: PagedKind | 'note' | OfPipeline): Promise<number>
  rows<T = Row>(sql: string, values?: readonly unknown[]): Promise<T[]>
}

/** The rows of a project in a snapshot. It throws the reason of the signal when the signal aborts. */
export function rowsOf(snapshot: Snapshot, id: number, signal: AbortSignal): ProjectRows {
  const rows = <T = Row>(sql: string, values: readonly unknown[] = []): Promise<T[]> => {
    signal.throwIfAborted()
    return snapshot.rows<T>(sql, values)
  }
  /**
   * Reads the ids of a page only from an index, and then the rows. In one statement, the database would begin with the people, or
   * sort all texts again for each page.
   */
  async function* paged(source: Source, values: readonly unknown[] = [id]): AsyncGenerator<readonly Row[]> {
    const { table, where, key, columns, joins, more = '' } = source
    for (let last: unknown; ; ) {
      const found = await rows<{ id: number; last: unknown }>(
        `select x.id, x.${key} as last from ${table} x where ${where} ${last === undefined ? '' : `and x.${key} > ?`}
         order by x.${key} limit ${PAGE}`,
        last === undefined ? values : [...values, last]
      )
      if (found.length === 0) return
      const page = await rows(
        `select straight_join ${columns} from ${table} x ${joins} where x.id in (?) ${more} order by x.${key}`,
        [found.map(each => each.id)]
      )
      if (page.length > 0) yield page
      if (found.length < PAGE) return
      last = found.at(-1)?.last
    }
  }
  async function* commitNotes(): AsyncGenerator<readonly Row[]> {
    // In the order of their index. A commit and its notes stay together.
    const commits = `select distinct commit_id as name from notes where project_id = ? and commit_id > ? order by commit_id limit 1000`
    for (let last = ''; ; ) {
      const found = await rows<{ name: string }>(commits, [id, last])
      for (const { name } of found) yield* paged({ ...NOTES, where: `${NOTES.where} and x.commit_id = ?` }, [id, name])
      if (found.length < 1000) return
      last = found.at(-1)?.name ?? ''
    }
  }
  const total = async ({ table, joins, where, more = '' }: Source) => {
    const sql = `select straight_join count(*) as total from ${table} x ${joins} where ${where} ${more}`
    const [found] = await rows<{ total: number }>(sql, [id])
    return Number(found?.total ?? 0)
  }
  return {
    rows,
    pages: kind => paged(SOURCES[kind]),
    notes: async function* () {
      yield* paged({ ...NOTES, where: `${NOTES.where} and x.commit_id is null` })
      yield* commitNotes()
    },
    ofPipeline: (kind, pipelineId) => paged(OF_PIPELINES[kind], [pipelineId]),
    count: kind => {
      if (kind === 'note') return total(NOTES)
      if (kind !== 'build' && kind !== 'commit_status') return total(SOURCES[kind])
      const joins = 'join pipelines p on p.id = x.pipeline_id and p.project_id = x.project_id'
      return total({ ...OF_PIPELINES[kind], joins, where: 'x.project_id = ?' })
    }
  }
}
