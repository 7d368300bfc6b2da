import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { rows } from '../../../db/connect/sql.js'
import { readManifest } from './manifest.js'

/** A backup that this appliance made, as the audit tells. */
export interface LastBackup {
  readonly path: string
  readonly made_at: Date
  /** False when the folder that holds it is not there, such as a disk that is mounted only for backups. */
  readonly seen: boolean
}

/** More backups than this are damaged or removed only together. */
const LOOKED_AT = 20

/**
 * Returns the newest backup whose manifest is whole, or that cannot be seen from here; null when there is none. It does
 * not read the files of the backup: `backup verify` does.
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
    readManifest(folder)
    return true
  } catch {
    return false
  }
}
