// Copies of repositories that a move to another storage leaves behind: the old one, which requests may still read for a while, or the
// new one of a move that was killed. `old_repositories` names them, so nobody has to search for them. A move and a backup hold the lock of
// this task.
import { existsSync } from 'node:fs'
import { holds, ownerNow } from '../../../cluster/storages.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { Conflict, Unavailable } from '../../../errors.js'
import { DamagedRepository, readCommit } from '../../../git/objects/objects.js'
import { refValue } from '../../../git/refs/refs.js'
import { removeRepository } from '../../../git/repository/repository.js'
import { KEPT, keepCommit } from '../../../git/write/merge.js'
import { log } from '../../../log.js'
import type { Task, TaskContext } from '../../../queue/task.js'
import { keepCommitOf, refOf } from '../../projects/projects/elsewhere/commits.js'
import { withOriginal } from '../../projects/projects/elsewhere/originals.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'

/** Hours. A clone that began before the move reads the old copy. */
const KEPT_HOURS = 1

interface OldRepository {
  readonly project_id: number
  readonly storage: string
}

export const oldRepositories: Task = {
  name: 'old_repositories',
  usesRepositories: true,
  schedule: '*/10 * * * *',
  about: 'removes the copies of repositories that have moved to another storage an hour ago, or whose move was killed',
  run: removeOld
}

/** Names a copy that is about to be made: without its project there, it may be removed at any time. */
export const announceCopy = (projectId: number, storage: string) =>
  execute(
    `insert into old_repositories (project_id, storage, removable_at) values (?, ?, now(3))
     on duplicate key update removable_at = removable_at`,
    [projectId, storage]
  )

/** Notes that a project has moved. Call it in the transaction of the move. */
export async function noteMoved(projectId: number, { from, to }: { from: string; to: string }): Promise<void> {
  await execute('delete from old_repositories where project_id = ? and storage = ?', [projectId, to])
  await execute(
    `insert into old_repositories (project_id, storage, removable_at) values (?, ?, now(3) + interval ${KEPT_HOURS} hour)`,
    [projectId, from]
  )
}

/** Removes what an earlier move left in a storage. Throws Conflict while requests may still read it. */
export async function clearPlace(projectId: number, storage: string): Promise<void> {
  const found = await row<{ removable_at: Date; is_due: number }>(
    'select removable_at, removable_at <= now(3) as is_due from old_repositories where project_id = ? and storage = ?',
    [projectId, storage]
  )
  if (!found) return
  if (found.is_due === 0)
    throw new Conflict(
      `the storage ${storage} still has the copy from which the project moved away, until ${found.removable_at.toISOString()}`
    )
  if (!(await removeOne({ project_id: projectId, storage })))
    throw new Conflict(`the storage ${storage} still has commits that the project needs: try again in ten minutes`)
}

async function removeOld({ dryRun, signal, count, note }: TaskContext): Promise<undefined> {
  const due = await rows<OldRepository>(
    'select project_id, storage from old_repositories where removable_at <= now(3) order by project_id limit 10000'
  )
  for (const old of due) {
    signal.throwIfAborted()
    if (!dryRun && !(await ifAnswered(old, () => (holds(old.storage) ? removeOne(old) : bringFrom(old))))) continue
    if (!holds(old.storage)) continue
    count()
    note(`project ${old.project_id} in ${old.storage}`)
  }
  return undefined
}

/** Returns false when the other machine of a project does not answer: the next run tries again. */
async function ifAnswered({ project_id: project }: OldRepository, work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    log().warn({ project, error: String(error) }, 'an old copy of a repository stays for now')
    return false
  }
}

/**
 * Removes a copy. Returns false while the project, on another machine, lacks a commit that it keeps. Throws DamagedRepository when the
 * repository of the project is missing.
 */
async function removeOne({ project_id: id, storage }: OldRepository): Promise<boolean> {
  const project = await row<{ storage: string }>('select storage from projects where id = ?', [id])
  const path = repositoryPath({ id, storage })
  // Not when the project is there: whatever the row says, this is its repository.
  if (project?.storage !== storage) {
    if (project && existsSync(path) && !(await isReplaced(path, { id, storage: project.storage }))) return false
    await removeRepository(path)
  }
  await execute('delete from old_repositories where project_id = ? and storage = ?', [id, storage])
  return true
}

/** Whether the repository of the project has everything that counts in an old copy of this machine. */
async function isReplaced(old: string, project: StoredProject): Promise<boolean> {
  // Do not wait for a machine that is down, project by project.
  if (ownerNow(project.storage) === undefined) return false
  const kept = await refValue(old, KEPT)
  return withOriginal(project, async current => {
    if (!(await current.isThere()))
      throw new DamagedRepository(current.name, `it does not exist; ${old} is an older copy, which stays`)
    if (kept === null || (await current.hasObject(kept))) return true
    if (current.folder === undefined) return false
    await keepCommit(old, kept, current.folder)
    return true
  })
}

/** Brings what an old copy of another machine keeps to a project of this one, which a killed move has not done. */
async function bringFrom({ project_id: id, storage: old }: OldRepository): Promise<boolean> {
  const project = await row<{ storage: string }>('select storage from projects where id = ?', [id])
  const isHere = project && project.storage !== old && holds(project.storage)
  if (!isHere || ownerNow(old) === undefined) return false
  await bringKept({ id, storage: old }, repositoryPath({ id, storage: project.storage }))
  return true
}

/**
 * Brings a commit that a merge request keeps to the new copy. It has no row in `ref_changes`, so nothing stops a request that had read
 * the row of the project before the move from keeping it in the old copy.
 */
export async function bringKept(old: StoredProject, current: string): Promise<void> {
  if (!existsSync(current)) return
  const kept = await refOf(old, KEPT)
  if (kept !== null && (await readCommit(current, kept)) === null) await keepCommitOf(old, kept, current)
}
