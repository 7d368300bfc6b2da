// Empties a storage: new projects go elsewhere, and its projects move away one after another.
import type { Origin } from '../../../access/actor.js'
import { OwnerAway } from '../../../cluster/repository-elsewhere.js'
import { holds, storageNames } from '../../../cluster/storages.js'
import { rows } from '../../../db/connect/sql.js'
import { Conflict, DiskFull, Failure, NoSuch, NotFound } from '../../../errors.js'
import type { RepositoryRow } from '../../code/repository/repositories.queries.js'
import { requireRepository } from '../../code/repository/repositories.queries.js'
import { updateSettings } from '../../ground/settings/settings.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { freeBytesOf, type MovedProject, moveProject } from './move-project.js'

/** Takes a storage out of the setting `repository_storages`. Throws NoSuch, and Conflict for the last one. */
export async function drainStorage(name: string, origin: Origin): Promise<string[]> {
  requireKnown(name)
  const left = (await usedStorages()).filter(one => one !== name)
  if (left.length === 0)
    throw new Conflict(`${name} is the only storage for new projects: add another one to repository_storages first`)
  await updateSettings({ repository_storages: left }, origin)
  return left
}

/** Adds it again. Throws NoSuch. */
export async function undrainStorage(name: string, origin: Origin): Promise<string[]> {
  requireKnown(name)
  const all = [...new Set([...(await usedStorages()), name])]
  await updateSettings({ repository_storages: all }, origin)
  return all
}

function requireKnown(name: string): void {
  if (!storageNames().includes(name)) throw new NoSuch('storage', name)
}

/** The setting may name storages that are no longer there. */
const usedStorages = async () =>
  (await applicationSettings()).repository_storages.filter(one => storageNames().includes(one))

export interface Emptied {
  readonly moved: number
  readonly failed: readonly { readonly project: string; readonly error: string }[]
}

/**
 * Moves all projects of a storage to the emptiest of the others of this machine. One that fails stays, and the others still move. Throws
 * Conflict when this machine owns no other one for new projects, and OwnerAway when the owner of the storage does not answer for minutes.
 */
export async function emptyStorage(
  name: string,
  origin: Origin,
  { signal, onMoved }: { signal: AbortSignal; onMoved: (moved: MovedProject) => void }
): Promise<Emptied> {
  let moved = 0
  const failed: { project: string; error: string }[] = []
  for (let last = 0; ; ) {
    const [next] = await rows<{ id: number }>(
      'select id from projects where storage = ? and id > ? order by id limit 1',
      [name, last]
    )
    if (!next) return { moved, failed }
    last = next.id
    signal.throwIfAborted()
    let project: RepositoryRow | undefined
    try {
      project = await requireRepository(String(next.id))
      onMoved(await moveProject(project, await emptiestExcept(name), origin, signal))
      moved += 1
    } catch (error) {
      // Somebody has removed it.
      if (error instanceof NotFound && !project) continue
      const endsAll = error instanceof DiskFull || error instanceof OwnerAway
      if (!project || !(error instanceof Failure) || signal.aborted || endsAll) throw error
      failed.push({ project: project.path_with_namespace, error: error.message })
    }
  }
}

async function emptiestExcept(name: string): Promise<string> {
  const names = (await usedStorages()).filter(one => one !== name && holds(one))
  const free = await Promise.all(names.map(async one => ({ name: one, bytes: await freeBytesOf(one) })))
  const [most] = free.sort((a, b) => b.bytes - a.bytes)
  if (!most) throw new Conflict('this machine owns no other storage of repository_storages')
  return most.name
}
