// The numbers of pipelines in their projects. No pipeline goes without its project, so that counting them gives each the same
// number for ever.
import { forgetWithPool } from '../../db/connection.js'
import { row } from '../../db/sql.js'
import { lruOf } from '../../lib/lru.js'

/** The newest pipeline of a project whose number this process knows: only those after it are counted. */
const known = lruOf<number, { readonly id: number; readonly number: number }>(10_000)
forgetWithPool(() => known.clear())

/** Returns the number of a pipeline in its project, from 1. */
export async function numberOfPipeline(projectId: number, id: number): Promise<number> {
  const last = known.get(projectId)
  const from = last && last.id <= id ? last : { id: 0, number: 0 }
  // Whoever makes a pipeline holds the project until it can be seen: no earlier one is missing from now on.
  await row('select id from projects where id = ? for update', [projectId])
  const found = await row<{ total: number }>(
    'select count(*) as total from pipelines where project_id = ? and id > ? and id <= ?',
    [projectId, from.id, id]
  )
  const number = from.number + Number(found?.total ?? 0)
  if (!last || last.id < id) known.set(projectId, { id, number })
  return number
}
