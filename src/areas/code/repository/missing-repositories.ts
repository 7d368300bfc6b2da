// Finds projects without their repository.
import { existsSync } from 'node:fs'
import { row, rows } from '../../../db/connect/sql.js'
import { createRepository } from '../../../git/repository/repository.js'
import { ofThisMachine, repositoryPath } from '../../projects/projects/repositories.js'
import { sampled } from './stored-repositories.js'

export interface MissingRepository {
  readonly id: number
  readonly path: string
  /** Whether the repository never accepted a ref change: then nothing is lost. */
  readonly empty: boolean
}

interface ProjectRow {
  readonly id: number
  readonly storage: string
  readonly is_empty: number
}

const UNUSED = `p.default_branch is null
  and not exists (select 1 from ref_changes c where c.project_id = p.id)
  and not exists (select 1 from pipelines l where l.project_id = p.id)`

// Ref changes are stored for three months, activity and the default branch permanently.
const EMPTY = `p.last_activity_at <= p.created_at + interval 1 second and ${UNUSED}`

// A job creates the repositories of forks and imports. One that failed leaves none: the first push creates it.
const THERE = `coalesce(p.import_state, '') <> 'waiting' and not (coalesce(p.import_state, '') = 'failed' and ${UNUSED})`

/** Checks for the repositories of all projects, or of `sample` random ones. */
export async function findMissing(
  sample?: number
): Promise<{ missing: MissingRepository[]; looked: number; of: number }> {
  const ours = ofThisMachine('p.storage')
  const there = `${THERE} and ${ours.sql}`
  const total = Number(
    (await row<{ total: number }>(`select count(*) as total from projects p where ${there}`, ours.values))?.total ?? 0
  )
  const some = sampled(sample === undefined || total <= sample ? undefined : sample)
  const projects = await rows<ProjectRow>(
    `select p.id, p.storage, (${EMPTY}) as is_empty from projects p where ${there} ${some}`,
    ours.values
  )
  const missing = projects.flatMap(project => {
    const path = repositoryPath(project)
    return existsSync(path) ? [] : [{ id: project.id, path, empty: project.is_empty === 1 }]
  })
  return { missing, looked: projects.length, of: total }
}

/** Creates the missing repositories that never accepted a ref change. Returns their number. */
export async function remakeMissing(sample?: number): Promise<number> {
  const empty = (await findMissing(sample)).missing.filter(project => project.empty)
  for (const { path } of empty) await createRepository(path)
  return empty.length
}
