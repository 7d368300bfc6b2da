// Links that a project gets without an upload: a fork has the objects of its source, and a merge brings those of a fork. Nothing is
// copied, and nobody gets to see an object that was not in a project whose repository was copied or merged.
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, marks, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { TooLarge } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { excessOfProject, findLinks } from './objects.js'
import { changeLinks } from './sizes.js'

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
    const oids = found.map(({ oid }) => oid)
    await changeLinks(to, () => insertFrom(from, to, oids, 'l.held'))
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
  for (const some of batches(oids, AT_ONCE)) {
    await changeLinks(to, async () => {
      await insertFrom(from, to, some, 'false')
      const count = `update lfs_links set held = false where project_id = ? and held and oid in (${marks(some)})`
      await execute(count, [to, ...some])
    })
  }
}

/**
 * Links objects of a fork to the target of its merge request, before somebody decides about it. Returns whether the target has all of
 * `oids` now. Links nothing, and returns false, when such objects of all forks together would exceed `lfs.max_project_size`: they do
 * not count for the limit of the project, so that strangers cannot use it up.
 */
export function holdLinks(from: number, to: number, oids: readonly string[]): Promise<boolean> {
  return transact(async () => {
    // Merge requests are counted one after another.
    if (!(await lockRow('projects', to))) return false
    let lacking = oids.length
    for (const some of batches(oids, AT_ONCE)) {
      await insertFrom(from, to, some, 'true')
      lacking -= (await findLinks(to, some)).size
    }
    if (excessOfProject(await heldSizeOf(to)) !== null) throw new TooLarge()
    return lacking === 0
  }).catch(error => {
    if (error instanceof TooLarge) return false
    throw error
  })
}

/** Returns how many bytes the objects have that only merge requests from forks hold. */
export async function heldSizeOf(projectId: number): Promise<number> {
  const found = await row<{ size: string | number | null }>(
    'select sum(size) as size from lfs_links where project_id = ? and held',
    [projectId]
  )
  return Number(found?.size ?? 0)
}

async function insertFrom(
  from: number,
  to: number,
  oids: readonly string[],
  held: 'true' | 'false' | 'l.held'
): Promise<void> {
  const values: Value[] = [to, new Date(), from, ...oids]
  await execute(
    `insert into lfs_links (project_id, oid, size, touched_at, held)
     select ?, oid, size, ?, ${held} from lfs_links l where l.project_id = ? and l.oid in (${marks(oids)})
     on duplicate key update touched_at = values(touched_at)`,
    values
  )
}
