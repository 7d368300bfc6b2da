// Moves the repository of a project to a storage of this machine while it is in use. The machine that owns the other storage, which may
// be this one, reads the files out:
//   1. copy     its files, in rounds, next to their place in the other storage; everybody reads and writes the old copy
//   2. hold     changes of refs wait (projects.held_until, which openChanges reads); those that have begun are settled
//   3. finish   the last objects and all refs are copied, and the copy gets its name
//   4. change   one transaction names the other storage; waiting changes go there
//   5. rest     requests that began before still read the old copy; a task removes it an hour later
// A kill leaves either copy as the only one that counts. The hold ends by itself; the task, or the next try, removes the other copy.
import { existsSync } from 'node:fs'
import { mkdir, rename, statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Origin } from '../../../access/actor.js'
import { joinMachines } from '../../../cluster/machines.js'
import { inFolder } from '../../../cluster/marker.js'
import { holds, knownStorages, ownerNow, requireEpoch, storageNames, storagePath } from '../../../cluster/storages.js'
import { outlasting } from '../../../db/connect/outlast.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Failure, NoSuch, NotFound, NotHere, Unavailable } from '../../../errors.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import { copyObjects, copyRefFiles } from '../../../git/repository/move.js'
import type { Original } from '../../../git/repository/original.js'
import { type PreparedRepository, removeRepository, setHead } from '../../../git/repository/repository.js'
import { repositorySize } from '../../../git/repository/size.js'
import { bytesText } from '../../../lib/bytes.js'
import { log } from '../../../log.js'
import { syncFileSystem } from '../../../storage/sync.js'
import type { RepositoryRow } from '../../code/repository/repositories.queries.js'
import { audit } from '../../ground/audit/audit.js'
import { withPatience } from '../../projects/projects/elsewhere/patience.js'
import { changeStorage, holdProject, releaseProject } from '../../projects/projects/project-columns.js'
import { prepareProject, repositoryPath } from '../../projects/projects/repositories.js'
import { announceCopy, bringKept, clearPlace, noteMoved, oldRepositories } from '../machines/old-repositories.js'
import { underLock } from '../maintenance/maintenance-lock.js'

/** Bytes. A round that copied less is followed by the last one, which changes wait for. */
const SMALL = 64 * 1024 * 1024
const ROUNDS = 5
/** Milliseconds for which new changes wait for those that have begun; the rest of the hold is for the last copy. */
const SETTLING_MS = 10_000
const TRIES = 10
const PAUSE_MS = 2000
/** A request that read the row of the project before the move keeps its commits by then. */
const LATE_MS = 1000

export interface MovedProject {
  readonly id: number
  readonly path_with_namespace: string
  readonly from: string
  readonly to: string
  /** The size of its objects. */
  readonly bytes: number
  /** For how long changes of its refs waited. */
  readonly held_ms: number
}

/**
 * Moves a project to a storage of this machine. Throws NoSuch, Conflict when another machine owns that storage or a backup is being
 * written, Failure when the storage is full, Unavailable when pushes never pause or the owner of the repository does not answer.
 */
export function moveProject(
  project: RepositoryRow,
  to: string,
  origin: Origin,
  signal: AbortSignal
): Promise<MovedProject> {
  const { id, storage: from, path_with_namespace: path, import_state: state } = project
  if (!storageNames().includes(to)) throw new NoSuch('storage', to)
  if (from === to) throw new Conflict(`project ${path} is in the storage ${to} already`)
  requireOwn(to)
  if (!holds(to)) throw new Conflict(`no machine owns the storage ${to} at the moment: run this command on its machine`)
  if (state === 'waiting') throw new Unavailable(`the repository of ${path} is still being copied: try later`)
  // Backups hold the same lock: they need the copy that their rows name.
  return underLock(oldRepositories.name, signal, async signal => {
    await joinMachines()
    await clearPlace(id, to)
    return move({ project, to, origin, signal })
  })
}

/** Throws Conflict when another machine owns a storage. */
function requireOwn(storage: string): void {
  const owner = ownerNow(storage) && knownStorages().find(({ name }) => name === storage)?.machine
  if (owner) throw new Conflict(`machine ${owner} owns the storage ${storage}: run this command on its machine`)
}

interface Asked {
  readonly project: RepositoryRow
  readonly to: string
  readonly origin: Origin
  readonly signal: AbortSignal
}

/** One try, with one owner of each storage. */
interface Move extends Asked {
  readonly original: Original
  /** Those of all storages at the beginning. */
  readonly epochs: ReadonlyMap<string, number>
}

async function move(asked: Asked): Promise<MovedProject> {
  const { project, to, signal } = asked
  const bytes = await withPatience(project, original => requireRoom(asked, original), signal)
  await outlasting(() => announceCopy(project.id, to), signal)
  const draft = await prepareProject(to)
  try {
    const held = await withPatience(project, original => tryToMove(asked, original, draft), signal)
    await outlasting(() => bringLate(project, to), signal)
    return {
      ...{ id: project.id, path_with_namespace: project.path_with_namespace, from: project.storage, to },
      ...{ bytes, held_ms: Math.round(held) }
    }
  } catch (error) {
    await draft.drop()
    await undo(asked)
    throw error
  }
}

/** Returns the size of the repository. */
async function requireRoom({ project, to }: Asked, original: Original): Promise<number> {
  const isThere = await original.isThere()
  if (!isThere && project.default_branch !== null) throw new DamagedRepository(original.name, 'it does not exist')
  const bytes = isThere ? await sizeOf(original) : 0
  await requireSpace(to, bytes)
  requireFree(repositoryPath({ id: project.id, storage: to }))
  return bytes
}

/**
 * Continues with what an earlier try has copied, whose owner or database stopped. Throws NotHere while this machine does not own the new
 * storage.
 */
async function tryToMove(asked: Asked, original: Original, draft: PreparedRepository): Promise<number> {
  const { to, signal } = asked
  requireOwn(to)
  storagePath(to)
  if (await hasMoved(asked, draft)) return 0
  const epochs = new Map(knownStorages().map(({ name, epoch }) => [name, epoch]))
  for (let round = 1; round <= ROUNDS && (await original.isThere()); round++) {
    const copied = await copyObjects(original, draft.path, signal)
    await syncFileSystem(draft.path)
    if (copied < SMALL) break
  }
  return finish({ ...asked, original, epochs }, draft)
}

/**
 * Whether an earlier try has moved the project, although the answer was lost. Otherwise its copy becomes the draft again. The end of the hold
 * in `finish` has waited for its transaction, or made it fail.
 */
async function hasMoved({ project: { id }, to }: Asked, draft: PreparedRepository): Promise<boolean> {
  if (existsSync(draft.path)) return false
  const found = await row<{ storage: string }>('select storage from projects where id = ?', [id])
  if (found?.storage === to) return true
  await rename(repositoryPath({ id, storage: to }), draft.path)
  return false
}

const sizeOf = async (original: Original): Promise<number> =>
  original.folder === undefined
    ? (await original.objects()).reduce((sum, { size }) => sum + size, 0)
    : repositorySize(original.folder)

async function requireSpace(to: string, bytes: number): Promise<void> {
  const free = await freeBytesOf(to)
  if (free > bytes * 1.1) return
  throw new Failure(`the storage ${to} has ${bytesText(free)} left, and the repository has ${bytesText(bytes)}`)
}

/** Returns the free bytes of a storage of this machine. */
export async function freeBytesOf(storage: string): Promise<number> {
  const path = storagePath(storage)
  return inFolder(storage, path, async () => {
    // Its first project would make the folder.
    await mkdir(path, { recursive: true, mode: 0o700 })
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  })
}

/** Removes the copy, unless the project is there: the answer to the last transaction may have been lost. */
async function undo({ project: { id }, to }: Asked): Promise<void> {
  // The task removes it when this machine has the storage back.
  if (!holds(to)) return
  // The lock waits for the end of that transaction.
  const found = await transact(() =>
    row<{ storage: string }>('select storage from projects where id = ? for update', [id])
  )
  if (found?.storage === to) return
  await removeRepository(repositoryPath({ id, storage: to }))
  await execute('delete from old_repositories where project_id = ? and storage = ?', [id, to])
}

/** Tries until the project has moved. Returns the milliseconds for which changes of its refs waited. */
async function finish(asked: Move, draft: PreparedRepository): Promise<number> {
  const { project, signal } = asked
  for (let tries = 1; tries <= TRIES; tries++) {
    signal.throwIfAborted()
    const began = performance.now()
    const until = await holdProject(project)
    try {
      if (until && (await settled(project.id)) && (await change(asked, draft, until))) return performance.now() - began
    } finally {
      // Waiting changes continue at once after a failure.
      if (until) await outlasting(() => releaseProject(project.id, until), signal)
    }
    await requireThere(project)
    await sleep(PAUSE_MS * tries, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
  throw new Unavailable(`the branches of ${project.path_with_namespace} change all the time: try later`)
}

async function requireThere({ id, storage, path_with_namespace: path }: RepositoryRow): Promise<void> {
  const found = await row<{ storage: string }>('select storage from projects where id = ?', [id])
  if (!found) throw new NotFound('Project')
  if (found.storage !== storage) throw new Conflict(`project ${path} has moved to the storage ${found.storage}`)
}

const hasOpenChanges = async (id: number): Promise<boolean> =>
  (await row("select 1 from ref_changes where project_id = ? and state = 'open' limit 1", [id])) !== undefined

/** Waits for the changes that have begun. Returns false when they take too long, such as a large push. */
async function settled(id: number): Promise<boolean> {
  for (const end = performance.now() + SETTLING_MS; performance.now() < end; ) {
    if (!(await hasOpenChanges(id))) return true
    await sleep(100)
  }
  return false
}

async function change(asked: Move, draft: PreparedRepository, until: Date): Promise<boolean> {
  const { project, original, to, origin, signal } = asked
  const { id, storage: from, path_with_namespace: name } = project
  const target = repositoryPath({ id, storage: to })
  if (await original.isThere()) {
    await copyObjects(original, draft.path, signal)
    await copyRefFiles(original, draft.path)
  }
  await syncFileSystem(draft.path)
  requireFree(target)
  await draft.place(target)
  const isDone = await transact(async () => {
    await requireOwners(asked)
    if (!(await changeStorage(id, to, until))) return false
    await noteMoved(id, { from, to })
    await audit(origin, {
      action: 'project.move',
      target: { type: 'project', id, name },
      changes: { storage: { before: from, after: to } }
    })
    return true
  }).catch(async error => {
    // Nothing has been changed: the next try continues with the copy.
    if (error instanceof NotHere) await rename(target, draft.path)
    throw error
  })
  if (!isDone) await rename(target, draft.path)
  return isDone
}

/** Throws NotHere when one of the storages has got another owner since the beginning. It keeps its owner until the end of the transaction. */
async function requireOwners({ project: { storage: from }, to, epochs }: Move): Promise<void> {
  const found = await rows<{ name: string; epoch: number }>(
    'select name, epoch from storages where name in (?, ?) order by name lock in share mode',
    [from, to]
  )
  for (const { name, epoch } of found) {
    if (epochs.get(name) !== epoch) throw new NotHere(name)
    if (name === to || holds(from)) requireEpoch(name, epoch)
  }
}

/** Brings what requests that read the row of the project before the move have written to the old copy since. */
async function bringLate({ id, storage }: RepositoryRow, to: string): Promise<void> {
  const target = repositoryPath({ id, storage: to })
  await sleep(LATE_MS)
  await bringKept({ id, storage }, target).catch(error => {
    if (!(error instanceof Unavailable)) throw error
    // The task does it later.
    log().warn({ project: id, error: String(error) }, 'the former machine of the project does not answer')
  })
  const found = await row<{ default_branch: string | null }>('select default_branch from projects where id = ?', [id])
  if (found?.default_branch) await setHead(target, found.default_branch)
}

function requireFree(target: string): void {
  if (existsSync(target)) throw new Conflict(`${target} exists, but the project is in another storage: move it away`)
}
