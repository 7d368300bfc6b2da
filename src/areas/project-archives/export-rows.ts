// Reads the rows of a project from a snapshot, page by page. Whoever has written something and is gone is not in it: nobody
// sees that any more.
import type { Snapshot } from '../../db/snapshot.js'
import type { Kind } from './format.js'

export interface Row {
  readonly id: number
  readonly [column: string]: unknown
}

const PAGE = 100

/** Where the rows of a kind are. The first value is the id of the project. */
interface Source {
  readonly columns: string
  /** FROM and WHERE, with `x` for the table of the kind. */
  readonly from: string
}

/** The users whom the columns name. */
const named = (...columns: readonly string[]) =>
  columns.map(column => `left join users ${column}_user on ${column}_user.id = x.${column}_id`).join(' ')
const AUTHOR = 'join users author on author.id = x.author_id'
const DAY = (column: string) => `date_format(x.${column}, '%Y-%m-%d') as ${column}`
const PLANNED = `x.id, x.iid, x.title, x.description, x.state, author.username as author, assignee_user.username as assignee,
  m.iid as milestone, updated_by_user.username as updated_by, x.time_estimate, x.total_time_spent, x.created_at, x.updated_at`
const PLANNED_JOINS = `${AUTHOR} ${named('assignee', 'updated_by')} left join milestones m on m.id = x.milestone_id`
const RAN = 'x.started_at, x.finished_at, x.created_at, x.updated_at'

/** Notes that refer to other projects are left out: who may see them is not known elsewhere. */
const NOTES = `notes x ${AUTHOR} ${named('updated_by')}
  left join issues i on x.noteable_type = 'Issue' and i.id = x.noteable_id and i.project_id = x.project_id
  left join merge_requests r on x.noteable_type = 'MergeRequest' and r.id = x.noteable_id and r.deleted_at is null
    and r.target_project_id = x.project_id
  left join issues ri on x.refers_type = 'Issue' and ri.id = x.refers_id and ri.project_id = x.project_id
  left join merge_requests rr on x.refers_type = 'MergeRequest' and rr.id = x.refers_id and rr.deleted_at is null
    and rr.target_project_id = x.project_id
  left join snippets rs on x.refers_type = 'Snippet' and rs.id = x.refers_id and rs.project_id = x.project_id
  where x.project_id = ? and (x.refers_type is null or coalesce(ri.id, rr.id, rs.id) is not null
    or x.refers_type = 'Commit' and x.refers_project_id = x.project_id)
  and exists (select 1 from users w where w.id = coalesce(i.author_id, r.author_id, x.author_id))
  and (x.noteable_type = 'Commit' or coalesce(i.id, r.id) is not null or x.noteable_type = 'Snippet' and exists (
    select 1 from snippets s join users v on v.id = s.author_id where s.id = x.noteable_id and s.project_id = x.project_id))`
const NOTE_COLUMNS = `x.id, x.noteable_type, x.noteable_id, coalesce(i.iid, r.iid) as on_iid, x.commit_id,
  author.username as author, x.note, x.is_system, x.path, x.line, x.line_type, updated_by_user.username as updated_by,
  x.refers_type, x.refers_id, coalesce(ri.iid, rr.iid) as refers_iid, x.created_at, x.updated_at`

export type PagedKind = Exclude<Kind, 'project' | 'label' | 'board' | 'note' | 'build' | 'commit_status'>

const SOURCES: { readonly [K in PagedKind]: Source } = {
  member: {
    columns: `x.id, u.username, x.access_level, ${DAY('expires_at')}, x.created_at`,
    from: "members x join users u on u.id = x.user_id where x.source_type = 'project' and x.source_id = ?"
  },
  milestone: {
    columns: `x.id, x.iid, x.title, x.description, ${DAY('start_date')}, ${DAY('due_date')}, x.state, x.created_at, x.updated_at`,
    from: 'milestones x where x.project_id = ?'
  },
  protected_branch: {
    columns: 'x.id, x.name, x.developers_can_push, x.developers_can_merge, x.created_at, x.updated_at',
    from: 'protected_branches x where x.project_id = ?'
  },
  release: {
    columns: 'x.id, x.tag, x.description, x.created_at, x.updated_at',
    from: 'releases x where x.project_id = ?'
  },
  issue: {
    columns: `${PLANNED}, x.confidential, ${DAY('due_date')}`,
    from: `issues x ${PLANNED_JOINS} where x.project_id = ?`
  },
  merge_request: {
    columns: `${PLANNED}, x.merge_status, x.target_branch, x.source_branch,
      if(x.source_project_id = x.target_project_id, null, x.source_project_id) as fork, x.head_sha, x.merge_commit_sha,
      x.merge_error, merge_user_user.username as merge_user, x.merge_message, x.should_remove_source_branch,
      x.force_remove_source_branch`,
    from: `merge_requests x ${PLANNED_JOINS} ${named('merge_user')} where x.target_project_id = ? and x.deleted_at is null`
  },
  snippet: {
    columns: `x.id, author.username as author, x.title, x.file_name, x.content, x.visibility_level, x.created_at, x.updated_at`,
    from: `snippets x ${AUTHOR} where x.project_id = ?`
  },
  pipeline: {
    columns: `x.id, x.ref, x.tag, x.sha, x.before_sha, x.status, x.source, x.yaml_errors, user_user.username as user,
      x.committed_at, x.duration, x.coverage, ${RAN}`,
    from: `pipelines x ${named('user')} where x.project_id = ?`
  }
}

/** Builds and statuses of pipelines. */
const OF_PIPELINES = {
  build: {
    columns: `x.id, x.pipeline_id, x.name, x.stage, x.stage_index, x.ref, x.tag, x.sha, x.status, x.start_when, x.allow_failure,
      x.tag_list, user_user.username as user, x.coverage, x.failure_reason, x.exit_code, x.erased_at, x.queued_at, ${RAN}`,
    from: `builds x ${named('user')}`
  },
  commit_status: {
    columns: `x.id, x.pipeline_id, x.sha, x.ref, x.name, x.status, x.target_url, x.description, user_user.username as user, ${RAN}`,
    from: `commit_statuses x ${named('user')}`
  }
} as const
export type OfPipeline = keyof typeof OF_PIPELINES

export interface ProjectRows {
  /** The rows of a kind, in pages, in the order of their ids. */
  pages(kind: PagedKind): AsyncGenerator<readonly Row[]>
  /** Notes in the order of their ids: those about issues, merge requests and snippets, then those about commits. */
  notes(): AsyncGenerator<readonly Row[]>
  /** Builds or statuses of pipelines, in the order of their ids. */
  ofPipeline(kind: OfPipeline, pipelineId: number): AsyncGenerator<readonly Row[]>
  count(kind: PagedKind | 'note' | OfPipeline): Promise<number>
  rows<T = Row>(sql: string, values?: readonly unknown[]): Promise<T[]>
}

/** The rows of a project in a snapshot. It throws the reason of the signal when that aborts. */
export function rowsOf(snapshot: Snapshot, id: number, signal: AbortSignal): ProjectRows {
  const rows = <T = Row>(sql: string, values: readonly unknown[] = []): Promise<T[]> => {
    signal.throwIfAborted()
    return snapshot.rows<T>(sql, values)
  }
  async function* paged(sql: string, values: readonly unknown[]): AsyncGenerator<readonly Row[]> {
    for (let last = 0; ; ) {
      const page = await rows(`${sql} and x.id > ? order by x.id limit ${PAGE}`, [...values, last])
      if (page.length > 0) yield page
      if (page.length < PAGE) return
      last = page.at(-1)?.id ?? 0
    }
  }
  async function* commitNotes(): AsyncGenerator<readonly Row[]> {
    // In the order of their index. A commit and its notes stay together.
    const commits = `select distinct commit_id as name from notes where project_id = ? and commit_id > ? order by commit_id limit 1000`
    for (let last = ''; ; ) {
      const found = await rows<{ name: string }>(commits, [id, last])
      for (const { name } of found) yield* paged(`select ${NOTE_COLUMNS} from ${NOTES} and x.commit_id = ?`, [id, name])
      if (found.length < 1000) return
      last = found.at(-1)?.name ?? ''
    }
  }
  const total = async (from: string) => {
    const [found] = await rows<{ total: number }>(`select count(*) as total from ${from}`, [id])
    return Number(found?.total ?? 0)
  }
  return {
    rows,
    pages: kind => paged(`select ${SOURCES[kind].columns} from ${SOURCES[kind].from}`, [id]),
    notes: async function* () {
      yield* paged(`select ${NOTE_COLUMNS} from ${NOTES} and x.commit_id is null`, [id])
      yield* commitNotes()
    },
    ofPipeline: (kind, pipelineId) =>
      paged(`select ${OF_PIPELINES[kind].columns} from ${OF_PIPELINES[kind].from} where x.pipeline_id = ?`, [
        pipelineId
      ]),
    count: kind => {
      if (kind === 'note') return total(NOTES)
      if (kind === 'build' || kind === 'commit_status')
        return total(`${OF_PIPELINES[kind].from} join pipelines p on p.id = x.pipeline_id where p.project_id = ?`)
      return total(SOURCES[kind].from)
    }
  }
}
