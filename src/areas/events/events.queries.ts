// Reads the activity feed: of a project, and of a user as far as the asker may see the projects.
import type { Actor } from '../../access/actor.js'
import { may } from '../../access/authorize.js'
import { type Fragment, visibleProjects } from '../../access/membership.js'
import { countTotal, type Page, type PageRequest, window } from '../../db/paginate.js'
import { rows, type Value } from '../../db/sql.js'
import { REPORTER } from '../../lib/levels.js'
import { readableIssues, visibleIssues } from '../issues/issues.queries.js'
import type { ProjectRow } from '../projects/projects.queries.js'

export interface EventRow {
  readonly id: number
  readonly project_id: number
  readonly author_id: number
  readonly action: string
  readonly target_type: string | null
  readonly target_id: number | null
  readonly target_title: string | null
  /** JSON. */
  readonly data: string | null
  readonly created_at: Date
  readonly author_name: string
  readonly author_username: string
  readonly author_state: 'active' | 'blocked'
}

const COLUMNS = `e.id, e.project_id, e.author_id, e.action, e.target_type, e.target_id, e.target_title, e.data, e.created_at,
  u.name as author_name, u.username as author_username, u.state as author_state`
/** Their data show commits, so they are for those who may read the repository. */
const PUSHES = "('pushed new', 'pushed to', 'deleted')"

/** The condition that an event is not about an issue, or about one that the asker may see. What is deleted is not shown. */
const aboutReadable = (visible: Fragment): Fragment => ({
  sql: `(e.target_type is null or e.target_type <> 'Issue'
    or exists (select 1 from issues i where i.id = e.target_id and ${visible.sql}))`,
  values: visible.values
})

const NO_ISSUE: Fragment = { sql: 'false', values: [] }

/** A page of the events of a project that the asker may see, newest first. */
export function listProjectEvents(project: ProjectRow, query: PageRequest, actor: Actor): Promise<Page<EventRow>> {
  const pushes = may(actor, 'repository.read', project) ? 'true' : `e.action not in ${PUSHES}`
  const issues = aboutReadable(project.issues_enabled ? visibleIssues(project, actor) : NO_ISSUE)
  return list(
    'activity_events e join users u on u.id = e.author_id',
    `e.project_id = ? and ${pushes} and ${issues.sql}`,
    [project.id, ...issues.values],
    query
  )
}

/** A page of the events of a user, newest first, in projects that the asker may see. */
export function listUserEvents(userId: number, query: PageRequest, actor: Actor): Promise<Page<EventRow>> {
  const visible = visibleProjects(actor)
  const readable = visibleProjects(actor, REPORTER)
  const issues = aboutReadable(readableIssues(actor))
  return list(
    'activity_events e join projects p on p.id = e.project_id join users u on u.id = e.author_id',
    `e.author_id = ? and ${visible.sql} and (e.action not in ${PUSHES} or ${readable.sql}) and ${issues.sql}`,
    [userId, ...visible.values, ...readable.values, ...issues.values],
    query
  )
}

async function list(
  from: string,
  condition: string,
  values: readonly Value[],
  query: PageRequest
): Promise<Page<EventRow>> {
  const { page, perPage, sql } = window(query)
  const [items, total] = await Promise.all([
    rows<EventRow>(
      `select ${COLUMNS} from ${from} where ${condition} order by e.created_at desc, e.id desc ${sql}`,
      values
    ),
    countTotal(`select count(*) as total from ${from} where ${condition}`, values)
  ])
  return { items, total, page, perPage }
}
