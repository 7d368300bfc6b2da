// Not cached: a change is enforced by every process from its next statement on, and no list or project is read by way of
// a setting. The row is found by its primary key.
import { execute, row } from '../../db/sql.js'
import { defaultSettings, isSettingName, type Settings } from './settings.table.js'

export interface SettingsRecord {
  readonly values: Settings
  /** What is stored: settings that differ from their defaults, and those that a newer version of the program knows. */
  readonly stored: { readonly [name: string]: unknown }
  readonly createdAt: Date
  readonly updatedAt: Date
}

interface SettingsRow {
  readonly changed: string
  readonly created_at: Date
  readonly updated_at: Date
}

const SELECT = 'select changed, created_at, updated_at from application_settings where id = 1'

/** Every setting's value. */
export async function applicationSettings(): Promise<Settings> {
  return (await settingsRecord()).values
}

/** The same with when it was changed. `lock` keeps others from changing it until the current transaction ends. */
export async function settingsRecord({ lock = false } = {}): Promise<SettingsRecord> {
  const found = await row<SettingsRow>(lock ? `${SELECT} for update` : SELECT)
  // The schema comes with the row; who has emptied the table has all defaults, and the row again at the next change.
  if (!found && lock) {
    await execute("insert ignore into application_settings values (1, '{}', ?, ?)", [new Date(), new Date()])
    return settingsRecord({ lock })
  }
  const stored = JSON.parse(found?.changed ?? '{}') as Record<string, unknown>
  const known = Object.entries(stored).filter(([name]) => isSettingName(name))
  return {
    values: { ...defaultSettings(), ...Object.fromEntries(known) },
    stored,
    createdAt: found?.created_at ?? new Date(0),
    updatedAt: found?.updated_at ?? new Date(0)
  }
}
