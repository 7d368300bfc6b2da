// Old paths of namespaces and projects lead to where these are now, until something new takes the path. A project's old
// path is kept with the id of its namespace, so a rename of the namespace changes nothing there. Every rule that gives a
// path calls the functions here, in its transaction.
import { execute, lowerMarks, row } from '../../db/sql.js'
import { batches } from '../../lib/batches.js'

/** Lets the old path of a renamed namespace lead to it. Call it after the rename, in the same transaction. */
export async function redirectNamespace(oldPath: string, namespaceId: number): Promise<void> {
  await execute(
    `insert into namespace_redirects (namespace_id, path, created_at) values (?, ?, ?)
     on duplicate key update namespace_id = ?, path = ?, created_at = ?`,
    [namespaceId, oldPath, new Date(), namespaceId, oldPath, new Date()]
  )
}

/** Ends what old paths of other namespaces lead to: new or renamed namespaces have these paths now. */
export async function endNamespaceRedirects(paths: readonly string[]): Promise<void> {
  for (const some of batches(paths, 500)) {
    await execute(`delete from namespace_redirects where path_key in (${lowerMarks(some)})`, some)
  }
}

/** A path of a project: the last part, and the namespace in which it has it. */
export interface ProjectPlace {
  readonly namespaceId: number
  readonly path: string
}

/** Lets the old place of a renamed or transferred project lead to it. */
export async function redirectProject({ namespaceId, path }: ProjectPlace, projectId: number): Promise<void> {
  await execute(
    `insert into project_redirects (namespace_id, path, project_id, created_at) values (?, ?, ?, ?)
     on duplicate key update project_id = ?, path = ?, created_at = ?`,
    [namespaceId, path, projectId, new Date(), projectId, path, new Date()]
  )
}

/** Ends what an old path leads to: a new, renamed or transferred project has the place now. */
export async function endProjectRedirect({ namespaceId, path }: ProjectPlace): Promise<void> {
  await execute('delete from project_redirects where namespace_id = ? and path_key = lower(?)', [namespaceId, path])
}

/** The id of the namespace that had this path once; undefined when nothing leads there, also for paths in use. */
export async function namespaceOfOldPath(path: string): Promise<number | undefined> {
  const found = await row<{ id: number }>(
    'select namespace_id as id from namespace_redirects where path_key = lower(?)',
    [path]
  )
  return found?.id
}

/** The id of the project that had the path NAMESPACE/PROJECT once. Call it for a path that no project has. */
export async function projectOfOldPath(namespace: string, path: string): Promise<number | undefined> {
  // A namespace that has the path comes before one that had it: the rules end redirects of paths that are taken.
  const found = await row<{ id: number | null }>(
    `select coalesce(p.id, r.project_id) as id from (
       select id from namespaces where path_key = lower(?)
       union select namespace_id as id from namespace_redirects where path_key = lower(?)
     ) n left join projects p on p.namespace_id = n.id and p.path_key = lower(?)
     left join project_redirects r on r.namespace_id = n.id and r.path_key = lower(?)
     order by p.id is null limit 1`,
    [namespace, namespace, path, path]
  )
  return found?.id ?? undefined
}
