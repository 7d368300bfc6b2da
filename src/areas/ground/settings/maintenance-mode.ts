// Maintenance mode: while it is on, reads still work, and writes by clients are refused with a message. Commands of the
// sysadmin, jobs and running builds continue.
import type { Origin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, Unavailable } from '../../../errors.js'
import { audit } from '../audit/audit.js'
import { settingsRecord } from './settings.queries.js'

export interface MaintenanceMode {
  /** The message that refused clients receive. */
  readonly message: string
  readonly since: Date
}

/** Characters. */
const LONGEST = 1000
/** Seconds after which a refused client may try again. */
const RETRY_AFTER = 60

interface ModeRow {
  readonly maintenance_message: string | null
  readonly maintenance_since: Date | null
}

/** Returns null while the mode is off. It is not cached, so every process sees a change from its next request on. */
export async function maintenanceMode(): Promise<MaintenanceMode | null> {
  const found = await row<ModeRow>(
    'select maintenance_message, maintenance_since from application_settings where id = 1'
  )
  if (!found?.maintenance_since) return null
  return { message: found.maintenance_message ?? '', since: found.maintenance_since }
}

/** Throws Unavailable with the message while the mode is on. Call it before requests that write. */
export async function refuseDuringMaintenance(): Promise<void> {
  const mode = await maintenanceMode()
  if (mode) refuse(mode.message)
}

/** A column with the message while the mode is on, otherwise null: a statement that a write needs anyway reads it as well. */
export const MAINTENANCE = `(select coalesce(maintenance_message, '') from application_settings
  where id = 1 and maintenance_since is not null) as maintenance`

export interface WithMaintenance {
  readonly maintenance: string | null
}

/** Throws Unavailable while the mode is on, by the row of a request that writes. Without a row, it asks. */
export async function refuseWrite(found: WithMaintenance | undefined): Promise<void> {
  if (!found) return refuseDuringMaintenance()
  if (found.maintenance !== null) refuse(found.maintenance)
}

function refuse(message: string): never {
  throw new Unavailable(message, RETRY_AFTER)
}

/**
 * Turns the mode on or, with null, off. If it is already on, only the message changes. Returns whether anything
 * changed. Throws Invalid for a message that is empty or too long.
 */
export function setMaintenanceMode(message: string | null, origin: Origin): Promise<boolean> {
  const text = message?.trim() ?? null
  if (text === '') throw new Invalid('message', "can't be blank")
  if (text !== null && text.length > LONGEST)
    throw new Invalid('message', `is too long (maximum is ${LONGEST} characters)`)
  return transact(async () => {
    await settingsRecord({ lock: true })
    const before = await maintenanceMode()
    if (text === (before?.message ?? null)) return false
    const since = text === null ? null : (before?.since ?? new Date())
    await execute('update application_settings set maintenance_message = ?, maintenance_since = ? where id = 1', [
      text,
      since
    ])
    const target = { type: 'settings', id: 1, name: 'maintenance mode' }
    const changes = { message: { before: before?.message ?? null, after: text } }
    await audit(origin, { action: text === null ? 'maintenance.off' : 'maintenance.on', target, changes })
    return true
  })
}
