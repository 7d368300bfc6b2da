// Hot reads of projects. One statement reads everything that the access rules and git need, and most requests need no
// more; reading what only the record of a project shows would double the time.
import { type Actor, nobody } from '../../../access/actor.js'
import { PREFIXED_ACTOR_USER, type PrefixedActorUser, withoutPrefix } from '../../../access/actor-user.js'
import {
  accessOf,
  countShares,
  MEMBERSHIPS,
  type Membership,
  membershipOf,
  OF_USER
} from '../../../access/membership.js'
import { VERSION, type Versions } from '../../../db/connect/content.js'
import { type Fragment, marks, padded, row, rows, type Value } from '../../../db/connect/sql.js'
import { NoSuch } from '../../../errors.js'
import { projectOfOldPath } from '../../ground/paths/redirects.js'
import { MAINTENANCE, refuseWrite, type WithMaintenance } from '../../ground/settings/maintenance-mode.js'
import { STORED_SETTINGS } from '../../ground/settings/settings.queries.js'
import {
  actorOfRow,
  actorOfSessionRow,
  SESSION,
  type SessionRow,
  TOKEN,
  type TokenRow,
  tokenValues
} from '../../people/credentials/credentials.js'

/** What the access rules, git and most requests need. Each further column would take 3 us for the database and this process. */
export interface ProjectRow extends Readonly<Record<ProjectFlag, number>> {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly default_branch: string | null
  readonly storage: string
  readonly visibility_level: number
  /** `waiting` until a job has filled the repository of a fork or an import, `failed` when it could not; otherwise null. */
  readonly import_state: 'waiting' | 'failed' | null
  readonly namespace_id: number
  readonly namespace_kind: 'user' | 'group'
  readonly namespace_name: string
  readonly namespace_path: string
  readonly namespace_owner_id: number | null
  /** The caller's effective level; null without access. */
  readonly access_level: number | null
}

/** A project with the columns of its record. */
export interface WholeProjectRow extends ProjectRow {
  readonly description: string | null
  readonly tag_list: string
  /** SECRET/NAME of an upload. */
  readonly avatar: string | null
  readonly star_count: number
  readonly forks_count: number
  readonly creator_id: number | null
  readonly runners_token_encrypted: Buffer
  readonly import_error: string | null
  readonly last_activity_at: Date
  readonly created_at: Date
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
}

/** The same, with what the database has to look up for it. */
export interface ShownProjectRow extends WholeProjectRow {
  /** How many issues are open, and how many of these are confidential: two numbers with a space between. */
  readonly open_issues: string
  /** Null when the caller is not a member. */
  readonly project_access_level: number | null
  readonly group_access_level: number | null
  /** Null when the caller is not a member or has set nothing. */
  readonly project_notification_level: number | null
  readonly group_notification_level: number | null
}

/**
 * The only list of the columns that are 0 or 1. One column of the statement holds all of them, in this order.
 * Not a loop: objects whose properties have computed names become slow, and that took a seventh of the time of a list.
 */
const readFlags = (next: () => number) => ({
  archived: next(),
  issues_enabled: next(),
  merge_requests_enabled: next(),
  builds_enabled: next(),
  wiki_enabled: next(),
  snippets_enabled: next(),
  container_registry_enabled: next(),
  lfs_enabled: next(),
  shared_runners_enabled: next(),
  public_builds: next(),
  request_access_enabled: next(),
  only_allow_merge_if_build_succeeds: next(),
  only_allow_merge_if_all_discussions_are_resolved: next(),
  // Whether a project may be a fork or shared with groups: 0 for most projects, whose records need no more statements.
  is_fork: next(),
  has_shares: next()
})
type ProjectFlag = keyof ReturnType<typeof readFlags>
const FLAGS = Object.keys(readFlags(() => 0))

/** Those that archives of projects have, too. */
export const SWITCHES = FLAGS.filter(name => name !== 'is_fork' && name !== 'has_shares')

const COLUMNS = `p.id, p.name, p.path, p.default_branch, p.storage, p.visibility_level, p.import_state, p.namespace_id,
  concat(${FLAGS.map(name => `p.${name}`).join(', ')}) as flags,
  n.kind as namespace_kind, n.name as namespace_name, n.path as namespace_path, n.owner_id as namespace_owner_id`
const WHOLE_COLUMNS = `${COLUMNS}, p.description, p.tag_list, p.avatar, p.star_count, p.forks_count, p.creator_id,
  p.runners_token_encrypted, p.import_error, p.last_activity_at, p.created_at,
  n.description as namespace_description, n.avatar as namespace_avatar,
  n.share_with_group_lock as namespace_share_with_group_lock, n.visibility_level as namespace_visibility_level,
  n.created_at as namespace_created_at, n.updated_at as namespace_updated_at,
  o.name as owner_name, o.username as owner_username, o.state as owner_state, o.created_at as owner_created_at`
const OPEN_ISSUES = `(select concat_ws(' ', coalesce(sum(c.opened), 0), coalesce(sum(c.opened_confidential), 0))
  from issue_counts c where c.project_id = p.id) as open_issues`
// All joins are LEFT JOIN: with an inner join of namespaces the list sorted the whole join, in 82 ms instead of 0.1.
const JOINS = 'left join namespaces n on n.id = p.namespace_id'
const WHOLE_JOINS = `${JOINS} left join users o on o.id = n.owner_id`

const idOf = ({ user }: Actor) => user?.id ?? 0
/** The first value of a statement's parts for a caller. */
const askerOf = (actor: Actor): Value => actor.deployKey ?? idOf(actor)
/** Returns the beginning of a statement that reads projects `p` for `readProjectRows`; `more` are additional columns. */
const selectProjects = ({ columns, joins }: Membership, from: string, more = '') =>
  `select ${COLUMNS}, ${columns}${more} from ${from} ${JOINS} ${joins}`
/** Does the same for a WholeProjectRow. */
export const selectWholeProjects = ({ columns, joins }: Membership, from: string, more = '') =>
  `select ${WHOLE_COLUMNS}, ${columns}${more} from ${from} ${WHOLE_JOINS} ${joins}`
/** Does the same for a ShownProjectRow. */
export const selectShownProjects = (membership: Membership, from: string, more = '') =>
  selectWholeProjects(membership, from, `, ${OPEN_ISSUES}, ${membership.shown}${more}`)

/** Reads projects by one of these statements. Only projects that have shares take a second one. */
export async function readProjectRows<Row extends ProjectRow>(
  { sql, values }: Fragment,
  { withoutShares }: Membership,
  actor: Actor
): Promise<Row[]> {
  const found = await rows<Row & StoredProject>(sql, values)
  for (const row of found) setFlags(row)
  if (withoutShares) await countShares(idOf(actor), found)
  return found
}

/** A row as the database returns it; `setFlags` adds what `flags` holds. */
interface StoredProject extends ProjectRow {
  readonly flags: string
}

function setFlags(row: StoredProject): void {
  let place = 0
  Object.assign(
    row,
    readFlags(() => row.flags.charCodeAt(place++) - ZERO)
  )
}
const ZERO = '0'.charCodeAt(0)

interface WithSettings {
  /** Null when none was changed. */
  readonly settings: string | null
}

/** What a request of git LFS reads besides. */
export interface WithObject {
  /** Whether the namespace lets its projects use LFS. */
  readonly namespace_lfs_enabled: number
  /** Bytes of the object that the request names; null when the project does not have it. */
  readonly object_size: number | string | null
}
type ForGit = ProjectRow & WithSettings & Partial<WithObject>

/** The statements that find a project for one kind of row. */
class Finder<Row extends ProjectRow> {
  readonly #byId: ReadonlyMap<Membership, string>
  readonly #byPath: ReadonlyMap<Membership, string>

  constructor(
    start: typeof selectProjects,
    private readonly membershipOf: (actor: Actor) => Membership
  ) {
    const forAskers = (from: string, where: string) =>
      new Map(MEMBERSHIPS.map(membership => [membership, `${start(membership, from)} where ${where}`]))
    this.#byId = forAskers('projects p', 'p.id = ?')
    this.#byPath = forAskers(
      'namespaces s join projects p on p.namespace_id = s.id',
      's.path_key = lower(?) and p.path_key = lower(?)'
    )
  }

  /** `joined` are the values of joins that `start` adds. */
  byId(id: number, actor: Actor, joined?: readonly Value[]): Promise<Row | undefined> {
    return this.#read(this.#byId, [id], actor, joined)
  }

  byPath(namespace: string, path: string, actor: Actor, joined?: readonly Value[]): Promise<Row | undefined> {
    return this.#read(this.#byPath, [namespace, path], actor, joined)
  }

  async #read(
    statements: ReadonlyMap<Membership, string>,
    found: readonly Value[],
    actor: Actor,
    joined: readonly Value[] = []
  ): Promise<Row | undefined> {
    const membership = this.membershipOf(actor)
    const values = membership.values(askerOf(actor), joined, found)
    return (await readProjectRows<Row>({ sql: statements.get(membership) ?? '', values }, membership, actor))[0]
  }
}

const FOUND = new Finder<ProjectRow>(selectProjects, accessOf)
const SHOWN = new Finder<ShownProjectRow>(selectShownProjects, membershipOf)
const WITH_VERSION = new Finder<ProjectRow & Versions>(
  ({ joins, ...membership }, from) =>
    selectProjects({ ...membership, joins: `${VERSION.joins} ${joins}` }, from, `, ${VERSION.columns}`),
  accessOf
)
const SETTINGS = `, ${STORED_SETTINGS} as settings`
const OBJECT = {
  columns: `${SETTINGS}, n.lfs_enabled as namespace_lfs_enabled, x.size as object_size`,
  join: 'left join lfs_links x on x.project_id = p.id and x.oid = ?'
}
const FOR_GIT = new Finder<ForGit>((membership, from) => selectProjects(membership, from, SETTINGS), accessOf)
const FOR_LFS = new Finder<ForGit>(
  (membership, from) => selectProjects(membership, `${from} ${OBJECT.join}`, OBJECT.columns),
  accessOf
)

/**
 * Returns a project by its id or NAMESPACE/PROJECT, with the caller's levels; undefined when the project does not
 * exist. Not specified: requests with an old path. They get the project, whose access rules then apply.
 */
export const findProject = (id: string | number, actor: Actor): Promise<ProjectRow | undefined> =>
  find(FOUND, String(id), actor)

/** Does the same, with what the project's record shows. */
export const findShownProject = (id: string | number, actor: Actor): Promise<ShownProjectRow | undefined> =>
  find(SHOWN, String(id), actor)

/** Does the same as `findProject`, and reads the version of what the records of the project show. */
export const findProjectWithVersion = (
  id: string | number,
  actor: Actor
): Promise<(ProjectRow & Versions) | undefined> => find(WITH_VERSION, String(id), actor)

/**
 * Does the same as `findProject`, and reads the stored settings: a request of git needs both. With `oid`, which may be empty, the row is
 * WithObject.
 */
export const findProjectForGit = (path: string, actor: Actor, oid?: string): Promise<ForGit | undefined> =>
  oid === undefined ? find(FOR_GIT, path, actor) : find(FOR_LFS, path, actor, [oid])

async function find<Row extends ProjectRow>(
  finder: Finder<Row>,
  text: string,
  actor: Actor,
  joined?: readonly Value[]
): Promise<Row | undefined> {
  if (/^\d{1,10}$/.test(text)) return finder.byId(Number(text), actor, joined)
  const [namespace, path, more] = text.split('/')
  if (!namespace || !path || more !== undefined) return undefined
  const found = await finder.byPath(namespace, path, actor, joined)
  if (found) return found
  const moved = await projectOfOldPath(namespace, path)
  return moved === undefined ? undefined : finder.byId(moved, actor, joined)
}

/**
 * Returns those projects with these paths (NAMESPACE/PROJECT) that exist, with the caller's levels. Not specified: old paths in
 * texts. They are not followed.
 */
export async function findProjects(paths: readonly string[], actor: Actor): Promise<ProjectRow[]> {
  const list = padded(paths.map(path => path.toLowerCase()))
  if (list.length === 0) return []
  const membership = accessOf(actor)
  const [namespaces, names] = [list.map(path => path.split('/')[0] ?? ''), list.map(path => path.split('/')[1] ?? '')]
  const sql = `${selectProjects(membership, 'namespaces s join projects p on p.namespace_id = s.id')}
    where s.path_key in (${marks(list)}) and p.path_key in (${marks(list)})`
  const values = membership.values(askerOf(actor), [], [...namespaces, ...names])
  const found = await readProjectRows<ProjectRow>({ sql, values }, membership, actor)
  return found.filter(({ namespace_path, path }) => list.includes(`${namespace_path}/${path}`.toLowerCase()))
}

interface TokenAndProject<Row = ProjectRow> {
  readonly actor: Actor
  readonly project: Row | undefined
}
type TokenAndGit = TokenAndProject<ProjectRow & Partial<WithObject>> & WithSettings

const tokenAndProjectWith = (start: typeof selectProjects, { columns = '', joins = '' } = {}) =>
  `${start(
    OF_USER,
    `${TOKEN.from} left join projects p on p.id = ? ${joins}`,
    `, ${TOKEN.columns}, ${PREFIXED_ACTOR_USER}${columns}`
  )} where ${TOKEN.where}`
const ASKED = tokenAndProjectWith(selectProjects)
const ASKED_WITH_VERSION = tokenAndProjectWith(selectProjects, { ...VERSION, columns: `, ${VERSION.columns}` })
const ASKED_SHOWN = tokenAndProjectWith(selectShownProjects)
const WRITTEN = tokenAndProjectWith(selectProjects, { columns: `, ${MAINTENANCE}` })
const WRITTEN_SHOWN = tokenAndProjectWith(selectShownProjects, { columns: `, ${MAINTENANCE}` })

/**
 * Returns the actor of a private or personal access token, and a project by its id with that actor's levels: with one
 * statement, because most requests need both. With `shown` it is a ShownProjectRow, and with `version` its row also has the
 * version of what the records of the project show. Null when the token is not valid.
 */
export async function findAsked(
  token: string,
  id: number,
  { shown = false, version = false } = {}
): Promise<TokenAndProject | null> {
  const statement = shown ? ASKED_SHOWN : version ? ASKED_WITH_VERSION : ASKED
  const found = await row<Asked>(statement, [id, ...tokenValues(token)])
  return found ? askedIn(found) : null
}

/** Does the same for a request that writes. Throws Unavailable during maintenance. */
export async function findWritten(token: string, id: number, { shown = false } = {}): Promise<TokenAndProject | null> {
  const found = await row<Asked & WithMaintenance>(shown ? WRITTEN_SHOWN : WRITTEN, [id, ...tokenValues(token)])
  await refuseWrite(found)
  return found ? askedIn(found) : null
}

type Asked = (StoredProject | { readonly id: null }) & TokenRow & PrefixedActorUser

const askedIn = (found: Asked): Promise<TokenAndProject> => withProject(actorOfRow(found, withoutPrefix(found)), found)

async function withProject(actor: Actor, found: StoredProject | { readonly id: null }): Promise<TokenAndProject> {
  if (found.id === null) return { actor, project: undefined }
  setFlags(found)
  if (!actor.user?.admin) await countShares(idOf(actor), [found])
  return { actor, project: found }
}

const askedForGit = (columns: string, join = '') =>
  `${selectProjects(
    OF_USER,
    `${TOKEN.from} left join namespaces s on s.path_key = lower(?)
       left join projects p on p.namespace_id = s.id and p.path_key = lower(?) ${join}`,
    `, ${TOKEN.columns}, ${PREFIXED_ACTOR_USER}${columns}`
  )} where ${TOKEN.where}`
const ASKED_FOR_GIT = askedForGit(SETTINGS)
const ASKED_FOR_LFS = askedForGit(OBJECT.columns, OBJECT.join)

/**
 * Returns the actor of such a token, the project with a path (NAMESPACE/PROJECT), and the stored settings. The project is
 * undefined for an old path; with `oid`, which may be empty, its row is WithObject. Null also for a text that is no path.
 */
export async function findForGit(token: string, path: string, oid?: string): Promise<TokenAndGit | null> {
  const [namespace, name, more] = path.split('/')
  if (!namespace || !name || more !== undefined) return null
  const [statement, joined] = oid === undefined ? [ASKED_FOR_GIT, []] : [ASKED_FOR_LFS, [oid]]
  const found = await row<Asked & WithSettings>(statement, [namespace, name, ...joined, ...tokenValues(token)])
  return found ? { ...(await askedIn(found)), settings: found.settings } : null
}

const VISITED = `${SESSION.from} left join namespaces w on w.path_key = lower(?)
  left join projects p on p.namespace_id = w.id and p.path_key = lower(?) ${VERSION.joins}`
type Visited = (StoredProject | { readonly id: null }) & SessionRow & PrefixedActorUser

/**
 * Returns the actor of a session cookie, and the project with a path, whose row has the version of what its records show: for a page.
 * The project is undefined for an old path. Null when the session is not valid.
 */
export async function findVisited(cookie: string, namespace: string, path: string): Promise<TokenAndProject | null> {
  const columns = SESSION.columns()
  const start = selectProjects(OF_USER, VISITED, `, ${columns.sql}, ${PREFIXED_ACTOR_USER}, ${VERSION.columns}`)
  const values = [...columns.values, namespace, path, ...SESSION.values(cookie)]
  const found = await row<Visited>(`${start} where ${SESSION.where}`, values)
  return found ? withProject(await actorOfSessionRow({ ...found, ...withoutPrefix(found) }), found) : null
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
