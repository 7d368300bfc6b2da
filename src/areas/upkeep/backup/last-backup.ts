import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { rows } from '../../../db/connect/sql.js'
import { readManifest } from './manifest.js'

/** A backup that this appliance created, according to the audit log. */
export interface LastBackup {
  readonly path: string
  readonly made_at: Date
  /** False when its folder does not exist, for example on a disk that is mounted only for backups. */
  readonly seen: boolean
}

/** If this many backups in a row are damaged or removed, all of them probably are. */
const LOOKED_AT = 20

/**
 * Returns the newest backup whose manifest and objects are undamaged or that is not visible from here; null when there is none. It does not
 * read the files of the backup: `backup verify` does.
 */
export async function lastGoodBackup(): Promise<LastBackup | null> {
  const made = await rows<{ path: string; created_at: Date }>(
    `select target_name as path, created_at from audit_events where action = 'backup.create'
     order by id desc limit ${LOOKED_AT}`
  )
  const found = made.find(({ path }) => !existsSync(dirname(path)) || isWhole(path))
  return found ? { path: found.path, made_at: found.created_at, seen: existsSync(dirname(found.path)) } : null
}

function isWhole(folder: string): boolean {
  try {
    return !readManifest(folder).damaged?.length
  } catch {
    return false
  }
}
