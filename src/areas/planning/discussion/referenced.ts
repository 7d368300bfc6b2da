// The records to which the texts of a page refer, as far as the reader may see them: one look-up for all texts.
import type { Actor } from '../../../access/actor.js'
import { canSee, may } from '../../../access/authorize.js'
import { visibleGroups } from '../../../access/membership.js'
import { marks, padded, rows } from '../../../db/connect/sql.js'
import { Failure } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import type { Gap } from '../../../text/page-html.js'
import { pathOf } from '../../../text/page-links.js'
import { keyOf } from '../../../text/references.js'
import { readNamedCommits } from '../../projects/projects/elsewhere/named-commits.js'
import { findProjects, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { seenLevels } from '../../projects/snippets/snippets.queries.js'
import { canSeeIssue } from '../issues/issues.queries.js'

/** What the texts of one page may refer to. */
const MOST_PROJECTS = 20
const MOST_RECORDS = 1000
const MOST_COMMITS = 50
const MOST_ID = 4_294_967_295

export interface Referenced {
  /** The path of its page. */
  readonly path: string
  readonly title: string
  /** Of a label. */
  readonly color?: string
}

type Found = readonly [key: string, referenced: Referenced]
type Named = Gap['reference']

/** The project of a reference and its own name. */
interface Wanted {
  readonly project: ProjectRow
  readonly name: string
  readonly key: string
}

export const keyOfGap = (reference: Named): string =>
  reference.kind === 'mention' ? `mention ${reference.name.toLowerCase()}` : keyOf(reference)

/**
 * Returns the records that the reader may see, by `keyOfGap`. `home` is the project of the texts. It runs a fixed number of
 * statements, however many references there are.
 */
export async function findReferenced(
  references: readonly Named[],
  home: ProjectRow | null,
  actor: Actor
): Promise<ReadonlyMap<string, Referenced>> {
  const all = [...new Map(references.map(each => [keyOfGap(each), each])).values()].slice(0, MOST_RECORDS)
  if (all.length === 0) return new Map()
  const projects = await projectsOf(all, home, actor)
  const of = (kind: Named['kind']): Wanted[] =>
    all.flatMap(each => {
      const project = each.kind === kind ? projects.get(each.project?.toLowerCase() ?? '') : undefined
      return project ? [{ project, name: each.name, key: keyOfGap(each) }] : []
    })
  const names = all.flatMap(({ kind, name }) => (kind === 'mention' ? [name.toLowerCase()] : []))
  const found = await Promise.all([
    issues(of('issue'), actor),
    mergeRequests(of('merge_request'), actor),
    labels(of('label'), actor),
    milestones(of('milestone'), actor),
    snippets(of('snippet'), actor),
    commits(of('commit'), actor),
    people(names, actor),
    groups(names, actor)
  ])
  return new Map(found.flat())
}

/** Returns the visible projects of references by their paths in lower case; the path of `home` is empty. */
async function projectsOf(references: readonly Named[], home: ProjectRow | null, actor: Actor) {
  const paths = new Set(references.flatMap(({ project }) => (project === null ? [] : [project.toLowerCase()])))
  const found = await findProjects([...paths].slice(0, MOST_PROJECTS), actor)
  const visible = found.filter(project => canSee(project, actor))
  return new Map([
    ...(home ? [['', home] as const] : []),
    ...visible.map(project => [`${project.namespace_path}/${project.path}`.toLowerCase(), project] as const)
  ])
}

const pageOf = ({ namespace_path, path }: ProjectRow, ...more: readonly string[]) =>
  pathOf(namespace_path, path, ...more)

const projectsIn = (wanted: readonly Wanted[]) => padded([...new Set(wanted.map(({ project }) => project.id))])

/** Finds the row of each reference by its project and its name. */
function each<Row extends { readonly project_id: number }>(
  wanted: readonly Wanted[],
  found: readonly Row[],
  nameOf: (row: Row) => string | number,
  show: (row: Row, wanted: Wanted) => Referenced | undefined
): Found[] {
  const known = new Map(found.map(row => [`${row.project_id} ${nameOf(row)}`, row]))
  return wanted.flatMap(one => {
    const row = known.get(`${one.project.id} ${one.name}`)
    const shown = row && show(row, one)
    return shown ? [[one.key, shown] as const] : []
  })
}

const allowed = (wanted: readonly Wanted[], actor: Actor, action: Parameters<typeof may>[1]) =>
  wanted.filter(({ project }) => may(actor, action, project))

const numbersIn = (wanted: readonly Wanted[]) =>
  padded([...new Set(wanted.map(({ name }) => Number(name)).filter(number => number <= MOST_ID))])

interface Numbered {
  readonly project_id: number
  readonly iid: number
  readonly title: string
}

async function issues(all: readonly Wanted[], actor: Actor): Promise<Found[]> {
  const wanted = allowed(all, actor, 'issue.read')
  const [projects, numbers] = [projectsIn(wanted), numbersIn(wanted)]
  if (numbers.length === 0) return []
  const found = await rows<
    Numbered & { confidential: number; author_id: number; assignee_id: number | null; is_open: number }
  >(
    `select project_id, iid, title, confidential, author_id, assignee_id, is_open from issues
     where project_id in (${marks(projects)}) and iid in (${marks(numbers)})`,
    [...projects, ...numbers]
  )
  return each(
    wanted,
    found,
    ({ iid }) => iid,
    (issue, { project, name }) =>
      canSeeIssue(issue, project, actor)
        ? { path: pageOf(project, 'issues', name), title: `${issue.title}${issue.is_open ? '' : ' (closed)'}` }
        : undefined
  )
}

async function mergeRequests(all: readonly Wanted[], actor: Actor): Promise<Found[]> {
  const wanted = allowed(all, actor, 'merge_request.read')
  const [projects, numbers] = [projectsIn(wanted), numbersIn(wanted)]
  if (numbers.length === 0) return []
  const found = await rows<Numbered & { state: string }>(
    `select target_project_id as project_id, iid, title, state from merge_requests
     where target_project_id in (${marks(projects)}) and iid in (${marks(numbers)}) and deleted_at is null`,
    [...projects, ...numbers]
  )
  return each(
    wanted,
    found,
    ({ iid }) => iid,
    ({ title, state }, { project, name }) => ({
      path: pageOf(project, 'merge_requests', name),
      title: /^(closed|merged)$/.test(state) ? `${title} (${state})` : title
    })
  )
}

async function labels(all: readonly Wanted[], actor: Actor): Promise<Found[]> {
  const wanted = allowed(all, actor, 'label.read')
  if (wanted.length === 0) return []
  const projects = projectsIn(wanted)
  const groups = padded([...new Set(wanted.map(({ project }) => project.namespace_id))])
  const titles = padded([...new Set(wanted.map(({ name }) => name))])
  const found = await rows<{ title: string; color: string; project_id: number | null; group_id: number | null }>(
    `select l.title, l.color, l.project_id, l.group_id from labels l
     where (l.project_id in (${marks(projects)}) or l.group_id in (${marks(groups)})) and l.title in (${marks(titles)})`,
    [...projects, ...groups, ...titles]
  )
  return wanted.flatMap(({ project, name, key }) => {
    const own = found.find(label => label.title === name && label.project_id === project.id)
    const label = own ?? found.find(({ title, group_id: group }) => title === name && group === project.namespace_id)
    const path = `${pageOf(project, 'issues')}?${new URLSearchParams({ labels: name })}`
    return label ? [[key, { path, title: label.title, color: label.color }] as const] : []
  })
}

async function milestones(all: readonly Wanted[], actor: Actor): Promise<Found[]> {
  const wanted = allowed(all, actor, 'milestone.read')
  if (wanted.length === 0) return []
  const projects = projectsIn(wanted)
  const titles = padded([...new Set(wanted.map(({ name }) => name))])
  const found = await rows<Numbered>(
    `select project_id, iid, title from milestones
     where project_id in (${marks(projects)}) and title in (${marks(titles)})`,
    [...projects, ...titles]
  )
  return each(
    wanted,
    found,
    ({ title }) => title,
    ({ iid, title }, { project }) => ({ path: pageOf(project, 'milestones', String(iid)), title })
  )
}

async function snippets(all: readonly Wanted[], actor: Actor): Promise<Found[]> {
  const wanted = allowed(all, actor, 'snippet.read')
  const [projects, ids] = [projectsIn(wanted), numbersIn(wanted)]
  if (ids.length === 0) return []
  const found = await rows<{ id: number; project_id: number; title: string; visibility_level: number }>(
    `select id, project_id, title, visibility_level from snippets
     where id in (${marks(ids)}) and project_id in (${marks(projects)})`,
    [...ids, ...projects]
  )
  return each(
    wanted,
    found,
    ({ id }) => id,
    ({ title, visibility_level: level }, { project, name }) =>
      seenLevels(project, actor).includes(level) ? { path: pageOf(project, 'snippets', name), title } : undefined
  )
}

const titleOf = (message: string) => (message.split('\n', 1)[0] ?? '').slice(0, 255)

/** Not specified: commits that cannot be read now, such as those of a machine that is down. They stay text. */
async function commits(all: readonly Wanted[], actor: Actor): Promise<Found[]> {
  const wanted = allowed(all, actor, 'commit.read').slice(0, MOST_COMMITS)
  const found = await readNamedCommits(wanted).catch(error => {
    if (error instanceof Failure || error instanceof GitFailure) return []
    throw error
  })
  return wanted.flatMap(({ project, key }, at) => {
    const commit = found[at]
    return commit ? [[key, { path: pageOf(project, 'commit', commit.id), title: titleOf(commit.message) }]] : []
  })
}

/** Users are only for signed-in readers, as in the API. */
async function people(names: readonly string[], { user }: Actor): Promise<Found[]> {
  if (!user || names.length === 0) return []
  const list = padded(names)
  const found = await rows<{ username: string; name: string }>(
    `select username, name from users where username_key in (${marks(list)})`,
    list
  )
  return found.map(({ username, name }) => [
    `mention ${username.toLowerCase()}`,
    { path: pathOf(username), title: name }
  ])
}

async function groups(names: readonly string[], actor: Actor): Promise<Found[]> {
  if (!actor.user || names.length === 0) return []
  const list = padded(names)
  const visible = visibleGroups(actor)
  const found = await rows<{ path: string; name: string }>(
    `select n.path, n.name from namespaces n where n.kind = 'group' and n.path_key in (${marks(list)}) and ${visible.sql}`,
    [...list, ...visible.values]
  )
  return found.map(({ path, name }) => [`mention ${path.toLowerCase()}`, { path: pathOf('groups', path), title: name }])
}
