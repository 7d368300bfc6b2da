// A project as commands show it. It loads no TypeBox, which takes 0.1 s.
import { row } from '../../db/sql.js'
import { NotFound } from '../../errors.js'
import { visibilityName } from '../../lib/levels.js'
import { projectOfOldPath } from '../paths/redirects.js'

export interface Described {
  readonly id: number
  readonly path_with_namespace: string
  readonly name: string
  readonly visibility_level: number
  readonly archived: number
  readonly default_branch: string | null
  readonly storage: string
  readonly forked_from: string | null
  readonly import_state: string | null
  readonly import_error: string | null
  readonly commit_count: number | null
  readonly repository_size: number | null
  readonly build_artifacts_size: number | null
  readonly created_at: Date
  readonly last_activity_at: Date
}

/**
 * Begins a statement whose rows `viewDescribed` shows. All joins are LEFT JOIN, so that a list reads its own rows only, and
 * does not sort all projects first.
 */
export const DESCRIBED = `select p.id, concat(n.path, '/', p.path) as path_with_namespace, p.name, p.visibility_level, p.archived,
  p.default_branch, p.storage, concat(m.path, '/', q.path) as forked_from, p.import_state, p.import_error, s.commit_count,
  s.repository_size, s.build_artifacts_size, p.created_at, p.last_activity_at
  from projects p left join namespaces n on n.id = p.namespace_id
  left join project_statistics s on s.project_id = p.id
  left join forked_project_links f on f.forked_to_project_id = p.id
  left join projects q on q.id = f.forked_from_project_id left join namespaces m on m.id = q.namespace_id`

/** A project by its id or path, also an old one. Throws NotFound. */
export async function describeProject(name: string) {
  const found = await find(name)
  if (!found) throw new NotFound(`Project ${name}`)
  return viewDescribed(found)
}

/** The record of `projects show` and `projects list`. */
export function viewDescribed({ visibility_level: level, archived, import_state, ...rest }: Described) {
  return {
    ...rest,
    visibility: visibilityName(level),
    archived: archived === 1,
    import_status: import_state === 'waiting' ? 'scheduled' : import_state
  }
}

async function find(name: string): Promise<Described | undefined> {
  if (/^\d{1,10}$/.test(name)) return byId(Number(name))
  const [namespace, path, more] = name.split('/')
  if (!namespace || !path || more !== undefined) return undefined
  const where = 'n.path_key = lower(?) and p.path_key = lower(?)'
  const found = await row<Described>(`${DESCRIBED} where ${where}`, [namespace, path])
  if (found) return found
  const moved = await projectOfOldPath(namespace, path)
  return moved === undefined ? undefined : byId(moved)
}

const byId = (id: number) => row<Described>(`${DESCRIBED} where p.id = ?`, [id])
