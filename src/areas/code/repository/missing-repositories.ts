// Finds projects without their repository.
import { accessSync, constants, existsSync } from 'node:fs'
import { isCluster, storagePath } from '../../../cluster/storages.js'
import { row, rows } from '../../../db/connect/sql.js'
import { createRepository } from '../../../git/repository/repository.js'
import { ofThisMachine, repositoryPath } from '../../projects/projects/repositories.js'
import { sampled } from './stored-repositories.js'

export interface MissingRepository {
  readonly id: number
  readonly path: string
  readonly storage: string
  /** Whether the repository never accepted a ref change: then nothing is lost. */
  readonly empty: boolean
}

/** A storage that looks as if its file system were not mounted. */
export interface AwayStorage {
  readonly name: string
  readonly path: string
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

/**
 * Checks for the repositories of all projects, or of `sample` random ones. With several machines, a project that another one has created
 * gets its repository at its first use, so one that was never used may lack it.
 */
export async function findMissing(
  sample?: number
): Promise<{ missing: MissingRepository[]; away: AwayStorage[]; looked: number; of: number }> {
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
    return existsSync(path) ? [] : [{ id: project.id, path, storage: project.storage, empty: project.is_empty === 1 }]
  })
  const names = [...new Set(missing.map(({ storage }) => storage))]
  const away = names.filter(name => isAway(name, projects, missing)).map(name => ({ name, path: storagePath(name) }))
  const lost = isCluster() ? missing.filter(({ empty }) => !empty) : missing
  return { missing: lost, away, looked: projects.length, of: total }
}

/** Whether this user cannot use the folder of a storage, or it has nothing of the repositories that have lost something. */
function isAway(name: string, projects: readonly ProjectRow[], missing: readonly MissingRepository[]): boolean {
  const gone = missing.filter(({ storage }) => storage === name)
  const all = projects.filter(({ storage }) => storage === name)
  if (gone.length === all.length && gone.some(({ empty }) => !empty)) return true
  try {
    accessSync(storagePath(name), constants.W_OK | constants.X_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/**
 * Creates the missing repositories that never accepted a ref change, except in storages that look as if they were not mounted. Returns
 * their number.
 */
export async function remakeMissing(sample?: number): Promise<number> {
  const { missing, away } = await findMissing(sample)
  const empty = missing.filter(project => project.empty && !away.some(({ name }) => name === project.storage))
  for (const { path } of empty) await createRepository(path)
  return empty.length
}
