// Links that a project gets without an upload: a fork has the objects of its source, and a merge brings those of a fork. Nothing is
// copied, and nobody gets to see an object that was not in a project whose repository was copied or merged.
import { execute, marks, row, rows, type Value } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'

const AT_ONCE = 1000

/** Links all objects of a project to its fork. */
export async function copyLinks(from: number, to: number): Promise<void> {
  for (let last = ''; ; ) {
    const found = await rows<{ oid: string }>(
      `select oid from lfs_links where project_id = ? and oid > ? order by oid limit ${AT_ONCE}`,
      [from, last]
    )
    const end = found.at(-1)
    if (!end) return
    await insertFrom(
      from,
      to,
      found.map(({ oid }) => oid)
    )
    last = end.oid
  }
}

export const hasLinks = async (projectId: number): Promise<boolean> =>
  (await row('select 1 from lfs_links where project_id = ? limit 1', [projectId])) !== undefined

/**
 * Links objects of a fork to the project into which it was merged. Not specified: the limit of the project. The people who merge decide,
 * so the objects come in addition.
 */
export async function takeLinks(from: number, to: number, oids: readonly string[]): Promise<void> {
  for (const some of batches(oids, AT_ONCE)) await insertFrom(from, to, some)
}

async function insertFrom(from: number, to: number, oids: readonly string[]): Promise<void> {
  const values: Value[] = [to, new Date(), from, ...oids]
  await execute(
    `insert into lfs_links (project_id, oid, size, touched_at)
     select ?, oid, size, ? from lfs_links l where l.project_id = ? and l.oid in (${marks(oids)})
     on duplicate key update touched_at = values(touched_at)`,
    values
  )
}
