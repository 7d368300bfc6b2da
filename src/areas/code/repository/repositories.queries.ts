// The repositories that a sysadmin names, or all of them in parts.

import { row, rows } from '../../../db/connect/sql.js'
import { PART } from '../../../db/lists/paginate.js'
import { requireProject } from '../../projects/projects/projects.queries.js'

export interface RepositoryRow {
  readonly id: number
  readonly storage: string
  readonly path_with_namespace: string
  readonly default_branch: string | null
  readonly import_state: 'waiting' | 'failed' | null
}

/** Returns the repository of a project by its id or path, also an old one. Throws NoSuch. */
export async function requireRepository(name: string): Promise<RepositoryRow> {
  const { id, storage, namespace_path, path, default_branch, import_state } = await requireProject(name)
  return { id, storage, path_with_namespace: `${namespace_path}/${path}`, default_branch, import_state }
}

/** Yields every repository, those of the oldest projects first. It holds at most 500 rows at a time. */
export async function* allRepositories(): AsyncGenerator<RepositoryRow> {
  for (let last = 0; ; ) {
    const part = await rows<RepositoryRow>(
      `select p.id, p.storage, concat(n.path, '/', p.path) as path_with_namespace, p.default_branch, p.import_state
       from projects p join namespaces n on n.id = p.namespace_id where p.id > ? order by p.id limit ${PART}`,
      [last]
    )
    yield* part
    const end = part.at(-1)
    if (!end) return
    last = end.id
  }
}

export async function countRepositories(): Promise<number> {
  return Number((await row<{ total: number }>('select count(*) as total from projects'))?.total ?? 0)
}
