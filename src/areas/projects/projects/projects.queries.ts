// Hot reads of projects. One statement reads everything that the access rules and git need, and most requests need no
// more; reading what only the record of a project shows would double the time.
import { type Actor, nobody } from '../../../access/actor.js'
import { PREFIXED_ACTOR_USER, type PrefixedActorUser, withoutPrefix } from '../../../access/actor-user.js'
import { MEMBERSHIPS, type Membership, membershipOf, OF_USER } from '../../../access/membership.js'
import { type Fragment, row, type Value } from '../../../db/connect/sql.js'
import { NoSuch } from '../../../errors.js'
import { projectOfOldPath } from '../../ground/paths/redirects.js'
import { actorOfRow, TOKEN, type TokenRow, tokenValues } from '../../people/credentials/credentials.js'

export interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly description: string | null
  readonly default_branch: string | null
  readonly storage: string
  readonly visibility_level: number
  readonly archived: number
  readonly issues_enabled: number
  readonly merge_requests_enabled: number
  readonly builds_enabled: number
  readonly wiki_enabled: number
  readonly snippets_enabled: number
  readonly container_registry_enabled: number
  readonly lfs_enabled: number
  readonly shared_runners_enabled: number
  readonly public_builds: number
  readonly request_access_enabled: number
  readonly only_allow_merge_if_build_succeeds: number
  readonly only_allow_merge_if_all_discussions_are_resolved: number
  readonly tag_list: string
  readonly star_count: number
  readonly forks_count: number
  readonly creator_id: number | null
  readonly runners_token_encrypted: Buffer
  /** `waiting` until a job has filled the repository of a fork or an import, `failed` when it could not; otherwise null. */
  readonly import_state: 'waiting' | 'failed' | null
  readonly import_error: string | null
  /** Whether it may be a fork or shared with groups: false for most projects, whose records need no more statements. */
  readonly is_fork: number
  readonly has_shares: number
  readonly last_activity_at: Date
  readonly created_at: Date
  readonly namespace_id: number
  readonly namespace_kind: 'user' | 'group'
  readonly namespace_name: string
  readonly namespace_path: string
  readonly namespace_owner_id: number | null
  readonly namespace_description: string
  readonly namespace_avatar: string | null
  readonly namespace_share_with_group_lock: number
  readonly namespace_visibility_level: number
  readonly namespace_created_at: Date
  readonly namespace_updated_at: Date
  readonly owner_name: string | null
  readonly owner_username: string | null
  readonly owner_state: string | null
  readonly owner_created_at: Date | null
  /** The caller's effective level; null without access. */
  readonly access_level: number | null
  readonly project_access_level: number | null
  readonly group_access_level: number | null
}

/** A project with the columns that only its record shows. */
export interface ShownProjectRow extends ProjectRow {
  /** How many issues are open, and how many of these are confidential: two numbers with a space between. */
  readonly open_issues: string
  /** Null when the caller is not a member or has set nothing. */
  readonly project_notification_level: number | null
  readonly group_notification_level: number | null
}

const OPEN_ISSUES = `(select concat_ws(' ', coalesce(sum(c.opened), 0), coalesce(sum(c.opened_confidential), 0))
  from issue_counts c where c.project_id = p.id) as open_issues`
const COLUMNS = `p.id, p.name, p.path, p.description, p.default_branch, p.storage, p.visibility_level, p.archived,
  p.issues_enabled, p.merge_requests_enabled, p.builds_enabled, p.wiki_enabled, p.snippets_enabled,
  p.container_registry_enabled, p.lfs_enabled, p.shared_runners_enabled, p.public_builds, p.request_access_enabled,
  p.only_allow_merge_if_build_succeeds, p.only_allow_merge_if_all_discussions_are_resolved, p.tag_list, p.star_count,
  p.forks_count, p.creator_id, p.runners_token_encrypted, p.last_activity_at, p.created_at,
  p.import_state, p.import_error, p.is_fork, p.has_shares, p.namespace_id, n.kind as namespace_kind, n.name as namespace_name, n.path as namespace_path,
  n.owner_id as namespace_owner_id, n.description as namespace_description, n.avatar as namespace_avatar,
  n.share_with_group_lock as namespace_share_with_group_lock, n.visibility_level as namespace_visibility_level,
  n.created_at as namespace_created_at, n.updated_at as namespace_updated_at,
  o.name as owner_name, o.username as owner_username, o.state as owner_state, o.created_at as owner_created_at`
// All joins are LEFT JOIN: with an inner join of namespaces the list sorted the whole join, in 82 ms instead of 0.1.
const JOINS = `left join namespaces n on n.id = p.namespace_id
  left join users o on o.id = n.owner_id`

const idOf = ({ user }: Actor) => user?.id ?? 0
/** The first value of a statement's parts for a caller. */
const askerOf = (actor: Actor): Value => actor.deployKey ?? idOf(actor)
/** Returns the beginning of a statement that reads projects `p` for a caller; `more` are additional columns. */
export const selectProjects = ({ columns, joins }: Membership, from: string, more = '') =>
  `select ${COLUMNS}, ${columns}${more} from ${from} ${JOINS} ${joins}`
/** Does the same, with what the records show. */
export const selectShownProjects = (membership: Membership, from: string, more = '') =>
  selectProjects(membership, from, `, ${OPEN_ISSUES}, ${membership.shown}${more}`)

/** Returns the statement for each kind of caller. */
const forAskers = (make: (membership: Membership) => string): ReadonlyMap<Membership, string> =>
  new Map(MEMBERSHIPS.map(membership => [membership, make(membership)]))

interface Statements {
  readonly byId: ReadonlyMap<Membership, string>
  readonly byPath: ReadonlyMap<Membership, string>
}

const statementsWith = (start: typeof selectProjects): Statements => ({
  byId: forAskers(membership => `${start(membership, 'projects p')} where p.id = ?`),
  byPath: forAskers(
    membership =>
      `${start(membership, 'namespaces s join projects p on p.namespace_id = s.id')} where s.path_key = lower(?)
      and p.path_key = lower(?)`
  )
})
const FOUND = statementsWith(selectProjects)
const SHOWN = statementsWith(selectShownProjects)

function statementOf(statements: ReadonlyMap<Membership, string>, actor: Actor, values: readonly Value[]): Fragment {
  const membership = membershipOf(actor)
  return { sql: statements.get(membership) ?? '', values: membership.values(askerOf(actor), [], values) }
}

/** Returns the statement with which `findShownProject` reads a project by its id. */
export const shownProjectById = (id: number, actor: Actor): Fragment => statementOf(SHOWN.byId, actor, [id])

/**
 * Returns a project by its id or NAMESPACE/PROJECT, with the caller's levels; undefined when the project does not
 * exist. Not specified: requests with an old path. They get the project, whose access rules then apply.
 */
export const findProject = (id: string | number, actor: Actor): Promise<ProjectRow | undefined> =>
  find<ProjectRow>(FOUND, String(id), actor)

/** Does the same, with what the project's record shows. */
export const findShownProject = (id: string | number, actor: Actor): Promise<ShownProjectRow | undefined> =>
  find<ShownProjectRow>(SHOWN, String(id), actor)

async function find<T>({ byId, byPath }: Statements, text: string, actor: Actor): Promise<T | undefined> {
  const read = ({ sql, values }: Fragment) => row<T>(sql, values)
  if (/^\d{1,10}$/.test(text)) return read(statementOf(byId, actor, [Number(text)]))
  const [namespace, path, more] = text.split('/')
  if (!namespace || !path || more !== undefined) return undefined
  const found = await read(statementOf(byPath, actor, [namespace, path]))
  if (found) return found
  const moved = await projectOfOldPath(namespace, path)
  return moved === undefined ? undefined : read(statementOf(byId, actor, [moved]))
}

interface TokenAndProject {
  readonly actor: Actor
  readonly project: ProjectRow | undefined
}

const tokenAndProjectWith = (start: typeof selectProjects) =>
  `${start(OF_USER, `${TOKEN.from} left join projects p on p.id = ?`, `, ${TOKEN.columns}, ${PREFIXED_ACTOR_USER}`)} where ${TOKEN.where}`
const ASKED = tokenAndProjectWith(selectProjects)
const ASKED_SHOWN = tokenAndProjectWith(selectShownProjects)

/**
 * Returns the actor of a private or personal access token, and a project by its id with that actor's levels: with one
 * statement, because most requests need both. With `shown` it is a ShownProjectRow. Null when the token is not valid.
 */
export async function findAsked(token: string, id: number, { shown = false } = {}): Promise<TokenAndProject | null> {
  const found = await row<Omit<ProjectRow, 'id'> & { id: number | null } & TokenRow & PrefixedActorUser>(
    shown ? ASKED_SHOWN : ASKED,
    [id, ...tokenValues(token)]
  )
  if (!found) return null
  const project = found.id === null ? undefined : (found as ProjectRow)
  return { actor: actorOfRow(found, withoutPrefix(found)), project }
}

/** Returns the project that a sysadmin names by its id or path, also an old one. Throws NoSuch. */
export async function requireProject(name: string): Promise<ProjectRow> {
  const found = await findProject(name, nobody)
  if (!found) throw new NoSuch('project', name)
  return found
}

/** Returns whether a path of a request (NAMESPACE/PROJECT) is an old path of the project that it found. */
export const isOldPath = (path: string, { namespace_path: namespace, path: name }: ProjectRow): boolean =>
  path.toLowerCase() !== `${namespace}/${name}`.toLowerCase()

/**
 * Prevents the removal of a project until the current transaction ends, so that the transaction leaves no rows of a
 * removed project. Returns false when the project no longer exists.
 */
export const holdProject = async (id: number): Promise<boolean> =>
  (await row('select id from projects where id = ? lock in share mode', [id])) !== undefined
