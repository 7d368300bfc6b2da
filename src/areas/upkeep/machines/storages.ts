// What a sysadmin can do with the storages of repositories. Each change writes to the audit log in the same transaction.
import type { Origin } from '../../../access/actor.js'
import { joinMachines } from '../../../cluster/machines.js'
import {
  deleteStorage,
  listOwners,
  listStorages,
  type StorageView,
  storageWithMarkerOf,
  wantStorage
} from '../../../cluster/storage-rows.js'
import { addStorage } from '../../../cluster/storages.js'
import { STORAGE_NAME, STORAGE_NAME_MEANING } from '../../../config/shape.js'
import { config } from '../../../config.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Invalid, NoSuch } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { requireMachine } from './machines.js'

/**
 * Adds a storage in a folder that this machine reaches; its server owns it a moment later. Throws Invalid for its name, and Conflict
 * when there is one with that name or in that folder, or when no machine has an address.
 */
export async function addStorageAt(name: string, path: string, origin: Origin): Promise<StorageView> {
  if (!STORAGE_NAME.test(name)) throw new Invalid('name', `is not ${STORAGE_NAME_MEANING}`)
  if (config().cluster.address === null)
    throw new Conflict('storages have owners only on machines with an address: set cluster.address in config.yaml')
  await joinMachines()
  await transact(async () => {
    if (!(await addStorage(name, path))) throw new Conflict(`there is a storage called ${name}`)
    const other = await storageWithMarkerOf(name)
    if (other !== undefined) {
      throw new Conflict(
        `${path} is the folder of the storage ${other}, or a copy of it. Delete the file .storage in a copy before you add it`
      )
    }
    await audit(origin, {
      action: 'storage.add',
      target: { type: 'storage', id: name, name },
      changes: { path: { after: path } }
    })
  })
  return requireStorage(name)
}

/**
 * Removes an empty storage from the list; its folder stays. Throws NoSuch, and Conflict while something is in it, or while new projects go
 * there.
 */
export async function removeStorage(name: string, origin: Origin): Promise<StorageView> {
  const storage = await requireStorage(name)
  if ((await applicationSettings()).repository_storages.includes(name))
    throw new Conflict(`new projects go to the storage ${name}: gitstead storages drain ${name}`)
  await transact(async () => {
    const left = await deleteStorage(name)
    if (left) {
      throw new Conflict(
        left.projects > 0
          ? `the storage ${name} has projects (${left.projects}): gitstead storages drain ${name} --move`
          : `the storage ${name} still has copies of moved projects, or repositories of removed ones: try again in an hour`
      )
    }
    await audit(origin, {
      action: 'storage.remove',
      target: { type: 'storage', id: name, name },
      changes: { path: { before: storage.path } }
    })
  })
  return storage
}

/** Gives a storage to a machine that reaches its folder. Throws NoSuch, and Conflict when the machine owns it already or several have the name. */
export async function giveStorage(name: string, machine: string, origin: Origin): Promise<StorageView> {
  const storage = await requireStorage(name)
  const target = await requireMachine(machine)
  if (!(await listOwners()).some(({ uid }) => uid === target.uid))
    throw new NoSuch('machine with a server and an address', machine)
  await transact(async () => {
    if (!(await wantStorage(name, target.uid)))
      throw new Conflict(`machine ${target.name} owns the storage ${name} already`)
    await note(origin, storage, target.name)
  })
  return requireStorage(name)
}

/**
 * Asks machines that own few storages to take over some of those that own many. Returns what was asked for. A machine that does not
 * reach a folder leaves the storage where it is.
 */
export async function balanceStorages(
  origin: Origin
): Promise<{ readonly storage: string; readonly machine: string }[]> {
  const [owners, storages] = await Promise.all([listOwners(), listStorages()])
  const held = new Map(owners.map(({ uid }) => [uid, storages.filter(({ machine_id: owner }) => owner === uid)]))
  const moves: { storage: string; machine: string }[] = []
  for (const { uid, name } of owners) {
    const share = Math.floor(storages.length / owners.length)
    for (const [other, theirs] of held) {
      const own = held.get(uid) ?? []
      if (own.length >= share || theirs.length <= own.length + 1 || other === uid) continue
      const storage = theirs.pop()
      if (!storage) continue
      own.push(storage)
      await transact(async () => {
        if (await wantStorage(storage.name, uid)) await note(origin, storage, name)
      })
      moves.push({ storage: storage.name, machine: name })
    }
  }
  return moves
}

async function requireStorage(name: string): Promise<StorageView> {
  const found = (await listStorages()).find(storage => storage.name === name)
  if (!found) throw new NoSuch('storage', name)
  return found
}

const note = (origin: Origin, { name, machine }: StorageView, after: string) =>
  audit(origin, {
    action: 'storage.give',
    target: { type: 'storage', id: name, name },
    changes: { machine: { before: machine, after } }
  })
