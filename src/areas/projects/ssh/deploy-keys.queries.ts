import type { ActorUser } from '../../../access/actor.js'
import { projectsOfMember } from '../../../access/membership.js'
import { row, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, PART } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { MASTER } from '../../../lib/levels.js'

export interface DeployKeyRow {
  readonly id: number
  /** The user who added it; null when that user was deleted, and for keys that a command added. */
  readonly user_id: number | null
  readonly title: string
  readonly public_key: string
  readonly fingerprint: string
  readonly can_push: number
  /** Whether every master of a project may enable the key there. */
  readonly is_public: number
  readonly created_at: Date
  readonly last_used_at: Date | null
}

export interface ListedDeployKeyRow extends DeployKeyRow {
  /** The paths of its projects, each in a line; null when it has none. */
  readonly projects: string | null
}

const COLUMNS =
  'k.id, k.user_id, k.title, k.public_key, k.fingerprint, k.can_push, k.is_public, k.created_at, k.last_used_at'

/** Returns all deploy keys, by id. */
export const listDeployKeys = (): Promise<DeployKeyRow[]> =>
  rows<DeployKeyRow>(`select ${COLUMNS} from deploy_keys k order by k.id`)

const OF_PROJECT = `select ${COLUMNS} from deploy_key_projects l join deploy_keys k on k.id = l.deploy_key_id
  where l.project_id = ?`

/** Returns the deploy keys of a project, by id. */
export const listDeployKeysOf = (projectId: number): Promise<DeployKeyRow[]> =>
  rows<DeployKeyRow>(`${OF_PROJECT} order by k.id`, [projectId])

/** Returns a deploy key of this project by its id; undefined for a key of another project. */
export const findDeployKey = (projectId: number, id: number): Promise<DeployKeyRow | undefined> =>
  row<DeployKeyRow>(`${OF_PROJECT} and k.id = ?`, [projectId, id])

/** Returns the deploy key of this project with a fingerprint. */
export const findDeployKeyLike = (projectId: number, fingerprint: string): Promise<DeployKeyRow | undefined> =>
  row<DeployKeyRow>(`${OF_PROJECT} and k.fingerprint = ? order by k.id limit 1`, [projectId, fingerprint])

/**
 * Returns a key that this user may give to a project: a public one, or one of a project where the user is a master.
 * Administrators and commands (null) may give any.
 */
export function findAccessibleKey(
  wanted: { readonly id: number } | { readonly fingerprint: string },
  asker: ActorUser | null
): Promise<DeployKeyRow | undefined> {
  const [where, value]: [string, Value] =
    'id' in wanted ? ['k.id = ?', wanted.id] : ['k.fingerprint = ?', wanted.fingerprint]
  const select = `select ${COLUMNS} from deploy_keys k where ${where}`
  if (!asker || asker.admin) return row<DeployKeyRow>(`${select} order by k.id limit 1`, [value])
  const mine = projectsOfMember(asker.id)
  return row<DeployKeyRow>(
    `${select} and (k.is_public or exists (select 1 from deploy_key_projects l join (${mine.sql}) mine on mine.id = l.project_id
       where l.deploy_key_id = k.id and mine.level >= ${MASTER})) order by k.id limit 1`,
    [value, ...mine.values]
  )
}

/** Returns whether a user has the key with this fingerprint. */
export const isKeyOfUser = async (fingerprint: string): Promise<boolean> =>
  (await row('select 1 as found from ssh_keys where fingerprint = ?', [fingerprint])) !== undefined

export async function countDeployKeys(projectId: number): Promise<number> {
  const found = await row<{ count: number }>('select count(*) as count from deploy_key_projects where project_id = ?', [
    projectId
  ])
  return Number(found?.count ?? 0)
}

const LISTED = `select ${COLUMNS}, (select group_concat(n.path, '/', p.path order by l.id separator '\\n')
  from deploy_key_projects l join projects p on p.id = l.project_id join namespaces n on n.id = p.namespace_id
  where l.deploy_key_id = k.id) as projects from deploy_keys k`

const OF = 'k.id in (select deploy_key_id from deploy_key_projects where project_id = ?)'
const filter = (projectId: number | undefined): [string, number[]] =>
  projectId === undefined ? ['1 = 1', []] : [OF, [projectId]]

/** Returns deploy keys of all projects or of one, newest first, with their total number. `limit` is a whole number. */
export async function listWithProjects({ projectId, limit }: { projectId?: number; limit: number }) {
  const [where, values] = filter(projectId)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from deploy_keys k where ${where}`, values),
    rows<ListedDeployKeyRow>(`${LISTED} where ${where} order by k.id desc limit ${limit}`, values)
  ])
  return { total, items }
}

/** Returns the next part of such a list: keys with a lower id than `before`. */
export function withProjectsBefore(projectId: number | undefined, before: number): Promise<ListedDeployKeyRow[]> {
  const [where, values] = filter(projectId)
  return rows<ListedDeployKeyRow>(`${LISTED} where ${where} and k.id < ? order by k.id desc limit ${PART}`, [
    ...values,
    before
  ])
}

/** Returns a deploy key with the paths of its projects. Throws NotFound. */
export async function requireWithProjects(id: number): Promise<ListedDeployKeyRow> {
  const found = await row<ListedDeployKeyRow>(`${LISTED} where k.id = ?`, [id])
  if (!found) throw new NotFound('Deploy Key')
  return found
}
