// The numbers of pipelines in their projects. Old pipelines leave a row in archived_pipelines when they leave the database, so counting
// both always gives the same numbers.
import { forgetWithPool } from '../../../db/connect/connection.js'
import { row } from '../../../db/connect/sql.js'
import { lruOf } from '../../../lib/lru.js'

/** The newest pipeline of a project whose number this process knows: only later ones are counted. */
const known = lruOf<number, { readonly id: number; readonly number: number }>(10_000)
forgetWithPool(() => known.clear())

/** Returns the number of a pipeline in its project, from 1. */
export async function numberOfPipeline(projectId: number, id: number): Promise<number> {
  const last = known.get(projectId)
  const from = last && last.id <= id ? last : { id: 0, number: 0 }
  // A transaction that creates a pipeline holds the project until it commits: from now on no earlier one is missing.
  await row('select id from projects where id = ? for update', [projectId])
  const found = await row<{ total: number }>(
    `select (select count(*) from pipelines where project_id = ? and id > ? and id <= ?)
       + (select count(*) from archived_pipelines where project_id = ? and id > ? and id <= ?) as total`,
    [projectId, from.id, id, projectId, from.id, id]
  )
  const number = from.number + Number(found?.total ?? 0)
  if (!last || last.id < id) known.set(projectId, { id, number })
  return number
}
