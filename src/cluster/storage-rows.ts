// The rows of all storages, for sysadmins.

import { execute, row, rows } from '../db/connect/sql.js'
import { lives } from './clock.js'
import { folderOf } from './storages.js'

export interface StorageView {
  readonly name: string
  readonly path: string
  /** The name and id of the machine that owns it; null while none does. */
  readonly machine: string | null
  readonly machine_id: string | null
  readonly address: string | null
  readonly free_bytes: number | null
  readonly projects: number
}

interface StorageLine extends Omit<StorageView, 'path'> {
  readonly path: string | null
}

/** Returns all storages, by name. */
export async function listStorages(): Promise<StorageView[]> {
  const found = await rows<StorageLine>(
    `select s.name, s.path, m.name as machine, m.uid as machine_id, m.address, s.free_bytes,
       (select count(*) from projects p where p.storage = s.name) as projects
     from storages s left join machines m on m.uid = s.owner and ${lives('s.lease_until')}
     order by s.name limit 1000`
  )
  return found.map(each => ({ ...each, path: folderOf(each) }))
}

/** Returns the name of another storage whose folder has the marker of this one: it is the same folder, or one is a copy of the other. */
export async function storageWithMarkerOf(name: string): Promise<string | undefined> {
  const found = await row<{ name: string }>(
    'select o.name from storages s join storages o on o.marker = s.marker and o.id <> s.id where s.name = ? limit 1',
    [name]
  )
  return found?.name
}

/** The machines that could own storages: their servers run and have an address. */
export const listOwners = (): Promise<{ uid: string; name: string }[]> =>
  rows(
    `select uid, name from machines where ${lives('server_until')} and address is not null and drained_at is null
     order by id`
  )

/** Has a machine ask the owner for a storage, unless it cannot reach the folder. Returns false when it owns the storage already. */
export async function wantStorage(name: string, uid: string): Promise<boolean> {
  const { affectedRows } = await execute(
    'update storages set wanted = ? where name = ? and (owner is null or owner <> ?)',
    [uid, name, uid]
  )
  return affectedRows === 1
}

/** What still is in a storage: projects, copies that projects moved away from, and repositories of removed projects. */
export interface StorageContent {
  readonly projects: number
  readonly copies: number
  readonly removed: number
}

/** Removes the row of a storage. Returns what is in it instead when it is not empty. Call it in a transaction. */
export async function deleteStorage(name: string): Promise<StorageContent | undefined> {
  await row('select id from storages where name = ? for update', [name])
  const found = await row<StorageContent>(
    `select (select count(*) from projects where storage = ?) as projects,
       (select count(*) from old_repositories where storage = ?) as copies,
       (select count(*) from project_removals where storage = ?) as removed`,
    [name, name, name]
  )
  if (found && found.projects + found.copies + found.removed > 0) return found
  await execute('delete from storages where name = ?', [name])
  return undefined
}
