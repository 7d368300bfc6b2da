// What a migrated project was when it came, there and here. A later run replaces it only while nobody has changed it here.
import { createHash } from 'node:crypto'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { Conflict } from '../../../errors.js'
import { portableRefs } from '../../../git/repository/packs.js'
import { repositoryPath } from '../../projects/projects/repositories.js'

export interface MigratedProject {
  readonly project_id: number
  readonly path: string
  readonly storage: string
  /** Hashes of what the project had there, and here. */
  readonly there: string
  readonly here: string
  /** The migration that brought it; null when that was removed, or an earlier program brought the project. */
  readonly migration: string | null
}

/** Returns the project here that came from a project of the source. */
export const findMigrated = (place: string, id: string): Promise<MigratedProject | undefined> =>
  row<MigratedProject>(
    `select m.project_id, concat(n.path, '/', p.path) as path, p.storage, m.there, m.here, b.name as migration
     from migrated_projects m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
     left join migrations b on b.id = m.migration_id where m.source = ? and m.source_project = ?`,
    [place, id]
  )

/** Throws Conflict when another project than this one has the path here. */
export async function refuseTaken(namespace: string, path: string, known: MigratedProject | undefined): Promise<void> {
  const found = await row<{ path: string }>(
    `select concat(n.path, '/', p.path) as path from projects p join namespaces n on n.id = p.namespace_id
     where n.path_key = lower(?) and p.path_key = lower(?) and p.id <> ?`,
    [namespace, path, known?.project_id ?? 0]
  )
  if (found)
    throw new Conflict(
      `${found.path} exists here: rename one of the two projects, or choose another namespace with migrate add --map`
    )
}

interface Arrival {
  readonly place: string
  readonly migrationId: number
  readonly id: string
  readonly there: string
  /** The path of the copy that the repository was filled from. */
  readonly repository: string
}

/** Records a project. Call it in the transaction that makes the project visible. Throws Conflict when another run was faster. */
export async function recordMigrated(projectId: number, arrival: Arrival): Promise<void> {
  const { place, migrationId, id, there, repository } = arrival
  await execute(
    `insert into migrated_projects (project_id, source, source_project, there, here, migration_id, created_at) values (?, ?, ?, ?, ?, ?, ?)`,
    [projectId, place, id, there, await stateOf(projectId, repository), migrationId, new Date()]
  ).catch(error => {
    if (duplicateKey(error) === undefined) throw error
    throw new Conflict('another migration has just brought this project')
  })
}

/** The tables whose rows people change, with the column that names the project. */
const TABLES = [
  ['issues', 'project_id'],
  ['merge_requests', 'target_project_id'],
  ['notes', 'project_id'],
  ['snippets', 'project_id'],
  ['milestones', 'project_id'],
  ['labels', 'project_id'],
  ['releases', 'project_id'],
  ['hooks', 'project_id'],
  ['variables', 'project_id'],
  ['pipelines', 'project_id']
] as const

/** Changes when somebody adds, changes or deletes a record of the project, or moves a branch or tag. */
async function stateOf(id: number, repository: string): Promise<string> {
  const hash = createHash('sha256')
  for (const [table, column] of TABLES) {
    const found = await row<{ state: string }>(
      `select concat_ws(' ', count(*), max(id), max(updated_at)) as state from ${table} where ${column} = ?`,
      [id]
    )
    hash.update(`${table} ${found?.state}\n`)
  }
  const project = await row<{ state: string }>(
    `select concat_ws(' ', name, path, namespace_id, description, visibility_level, archived) as state from projects where id = ?`,
    [id]
  )
  hash.update(`${project?.state}\n`)
  // The kept commits of merge requests change while they are checked.
  for (const { ref, id: value } of portableRefs(repository))
    if (!ref.startsWith('refs/internal/')) hash.update(`${ref} ${value}\n`)
  return hash.digest('hex')
}

/** Returns whether the project is still what came. A push that has begun counts: git may accept it at any moment. */
export async function isUnchanged({
  project_id: id,
  storage,
  here
}: Pick<MigratedProject, 'project_id' | 'storage' | 'here'>): Promise<boolean> {
  if (await row("select 1 from ref_changes where project_id = ? and state = 'open' limit 1", [id])) return false
  return (await stateOf(id, repositoryPath({ id, storage }))) === here
}

/** Does what must not count as a change that somebody has made here. Call it inside `transact`. */
export async function withoutChange(projectId: number, work: () => Promise<void>): Promise<void> {
  const known = await row<Pick<MigratedProject, 'project_id' | 'storage' | 'here'>>(
    'select m.project_id, p.storage, m.here from migrated_projects m join projects p on p.id = m.project_id where p.id = ?',
    [projectId]
  )
  const was = known && (await isUnchanged(known))
  await work()
  if (!was) return
  const here = await stateOf(projectId, repositoryPath({ id: projectId, storage: known.storage }))
  await execute('update migrated_projects set here = ? where project_id = ?', [here, projectId])
}
