// Redirects from old paths of namespaces and projects to their new paths, until something new takes the old path. A
// project's old path is stored with the id of its namespace, so a rename of the namespace does not affect it. Every
// rule that assigns a path calls the functions here, in its transaction.
import { execute, lowerMarks, row } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'

/** Redirects the old path of a renamed namespace to it. Call it after the rename, in the same transaction. */
export async function redirectNamespace(oldPath: string, namespaceId: number): Promise<void> {
  await execute(
    `insert into namespace_redirects (namespace_id, path, created_at) values (?, ?, ?)
     on duplicate key update namespace_id = ?, path = ?, created_at = ?`,
    [namespaceId, oldPath, new Date(), namespaceId, oldPath, new Date()]
  )
}

/** Ends the redirects from paths that new or renamed namespaces have now. */
export async function endNamespaceRedirects(paths: readonly string[]): Promise<void> {
  for (const some of batches(paths, 500)) {
    await execute(`delete from namespace_redirects where path_key in (${lowerMarks(some)})`, some)
  }
}

/** The path of a project: the last part, and the id of its namespace. */
export interface ProjectPlace {
  readonly namespaceId: number
  readonly path: string
}

/** Redirects the old path of a renamed or transferred project to it. */
export async function redirectProject({ namespaceId, path }: ProjectPlace, projectId: number): Promise<void> {
  await execute(
    `insert into project_redirects (namespace_id, path, project_id, created_at) values (?, ?, ?, ?)
     on duplicate key update project_id = ?, path = ?, created_at = ?`,
    [namespaceId, path, projectId, new Date(), projectId, path, new Date()]
  )
}

/** Ends the redirect from a path that a new, renamed or transferred project has now. */
export async function endProjectRedirect({ namespaceId, path }: ProjectPlace): Promise<void> {
  await execute('delete from project_redirects where namespace_id = ? and path_key = lower(?)', [namespaceId, path])
}

/** Returns the id of the namespace that once had this path; undefined without a redirect, and for paths in use. */
export async function namespaceOfOldPath(path: string): Promise<number | undefined> {
  const found = await row<{ id: number }>(
    'select namespace_id as id from namespace_redirects where path_key = lower(?)',
    [path]
  )
  return found?.id
}

/** Returns the id of the project that once had the path NAMESPACE/PROJECT. Call it for a path that no project has. */
export async function projectOfOldPath(namespace: string, path: string): Promise<number | undefined> {
  // A namespace that has the path comes before one that had it: rules end the redirects of paths that are taken.
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
