// Reads the activity feed of a project, or of a user in the projects that the caller may see.
import type { Actor } from '../../../access/actor.js'
import { isOpenTo } from '../../../access/authorize.js'
import { type Fragment, projectsOfMember, visibleProjects } from '../../../access/membership.js'
import { padded, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { INTERNAL, PUBLIC, REPORTER } from '../../../lib/levels.js'
import { readableIssues } from '../../planning/issues/issues.queries.js'

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
  readonly author_state: 'active' | 'blocked' | 'ldap_blocked'
}

const COLUMNS = `e.id, e.project_id, e.author_id, e.action, e.target_type, e.target_id, e.target_title, e.data, e.created_at,
  u.name as author_name, u.username as author_username, u.state as author_state`
/** Excludes events about code, which need read access to the repository: pushes, merge requests, and notes about these and commits. */
const NO_CODE = `e.action not in ('pushed new', 'pushed to', 'deleted')
  and (e.target_type is null or e.target_type <> 'MergeRequest')
  and not exists (select 1 from notes c where e.target_type = 'Note' and c.id = e.target_id
    and c.noteable_type in ('MergeRequest', 'Commit'))`

/** Features that a project can switch off. Their events are then hidden too. */
const SWITCHES = {
  Issue: 'issues_enabled',
  MergeRequest: 'merge_requests_enabled',
  Snippet: 'snippets_enabled'
} as const

type Switches = { readonly [Column in (typeof SWITCHES)[keyof typeof SWITCHES]]: number }

const notAbout = (type: string) => `(e.target_type is null or e.target_type <> '${type}')
  and not exists (select 1 from notes c where e.target_type = 'Note' and c.id = e.target_id and c.noteable_type = '${type}')`

const switchedOn = (project: Switches): string =>
  Object.entries(SWITCHES)
    .map(([type, column]) => (project[column] ? '' : ` and ${notAbout(type)}`))
    .join('')

/** The same condition for any project `p`. */
const SWITCHED_ON = Object.entries(SWITCHES)
  .map(([type, column]) => `(p.${column} or ${notAbout(type)})`)
  .join(' and ')

/**
 * The condition that the caller may see the target of an event: not everybody who sees the project may see confidential issues,
 * private snippets, and notes about them. Events of deleted targets are hidden.
 */
function visibleTargets(actor: Actor): Fragment {
  if (actor.user?.admin) return { sql: 'true', values: [] }
  const { sql: mine, values } = projectsOfMember(actor.user?.id ?? 0)
  const seen = readableIssues(actor)
  const levels = [INTERNAL, PUBLIC].filter(level => isOpenTo({ visibility_level: level }, actor))
  return {
    sql: `(e.target_type is null or e.target_type not in ('Issue', 'Note')
      or (e.target_type = 'Issue' and exists (select 1 from issues i where i.id = e.target_id and ${seen.sql}))
      or (e.target_type = 'Note' and exists (select 1 from notes n
        left join issues i on n.noteable_type = 'Issue' and i.id = n.noteable_id
        left join snippets s on n.noteable_type = 'Snippet' and s.id = n.noteable_id
        where n.id = e.target_id and (i.id is null or ${seen.sql})
          and (s.id is null or s.visibility_level in (${levels.join(', ')}) or s.project_id in (select g.id from (${mine}) g)))))`,
    values: [...seen.values, ...seen.values, ...values]
  }
}

/** A page of the events of a project, newest first. Without `code` it omits events about code. */
export function listProjectEvents(
  project: Switches & { readonly id: number },
  query: PageRequest,
  { code, actor }: { readonly code: boolean; readonly actor: Actor }
): Promise<Page<EventRow>> {
  const seen = visibleTargets(actor)
  const condition = `e.project_id = ? and ${seen.sql}${code ? '' : ` and ${NO_CODE}`}${switchedOn(project)}`
  return list('activity_events e join users u on u.id = e.author_id', condition, [project.id, ...seen.values], query)
}

export interface DayCount {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string
  readonly count: number
}

/** The events that a plot counts, so that its statement stays short. */
const MOST_COUNTED = 5000

/** Returns how many events of `listProjectEvents` there were on each day since a moment: of the newest MOST_COUNTED. */
export function countProjectEvents(
  project: Switches & { readonly id: number },
  since: Date,
  { code, actor }: { readonly code: boolean; readonly actor: Actor }
): Promise<DayCount[]> {
  const seen = visibleTargets(actor)
  const condition = `e.project_id = ? and e.created_at >= ? and ${seen.sql}${code ? '' : ` and ${NO_CODE}`}`
  return rows<DayCount>(
    `select date_format(c.created_at, '%Y-%m-%d') as day, count(*) as count from (select e.created_at from activity_events e
       where ${condition}${switchedOn(project)} order by e.created_at desc limit ${MOST_COUNTED}) c
     group by day order by day`,
    [project.id, since, ...seen.values]
  )
}

/** A page of the events of a user, newest first, in projects that the caller may see. */
export function listUserEvents(userId: number, query: PageRequest, actor: Actor): Promise<Page<EventRow>> {
  const visible = visibleProjects(actor)
  const readable = visibleProjects(actor, REPORTER)
  const seen = visibleTargets(actor)
  return list(
    'activity_events e join projects p on p.id = e.project_id join users u on u.id = e.author_id',
    `e.author_id = ? and ${visible.sql} and ((${NO_CODE}) or ${readable.sql}) and ${SWITCHED_ON} and ${seen.sql}`,
    [userId, ...visible.values, ...readable.values, ...seen.values],
    query
  )
}

/** The newest events of each project among which those that the caller may see are chosen. */
const MOST_OF_PROJECT = 50

/** Returns the newest events of some projects, newest first, that the caller may see: at most `most` of at most 50 of each. */
export async function listEventsOf(projectIds: readonly number[], most: number, actor: Actor): Promise<EventRow[]> {
  const ids = padded(projectIds)
  if (ids.length === 0) return []
  const visible = visibleProjects(actor)
  const readable = visibleProjects(actor, REPORTER)
  const seen = visibleTargets(actor)
  // Each part reads the end of an index. A repeated project adds no rows.
  const newest = ids.map(
    () =>
      `(select a.id from activity_events a where a.project_id = ? order by a.created_at desc, a.id desc limit ${MOST_OF_PROJECT})`
  )
  return rows<EventRow>(
    `select ${COLUMNS} from (${newest.join(' union ')}) r join activity_events e on e.id = r.id
     join projects p on p.id = e.project_id join users u on u.id = e.author_id
     where ${visible.sql} and ((${NO_CODE}) or ${readable.sql}) and ${SWITCHED_ON} and ${seen.sql}
     order by e.created_at desc, e.id desc limit ${Math.trunc(most)}`,
    [...ids, ...visible.values, ...readable.values, ...seen.values]
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
