// Settings are not cached, so every process sees a change from its next statement on. This costs little: the row is
// found by its primary key, and no read of a list or project needs a setting.
import { execute, row } from '../../../db/connect/sql.js'
import { defaultSettings, isSettingName, type Settings } from './settings.table.js'

export interface SettingsRecord {
  readonly values: Settings
  /** The stored settings: those that differ from their defaults, and those of newer versions. */
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

/** The changed settings as JSON, for a statement that reads something else too; null when there are none. */
export const STORED_SETTINGS = '(select changed from application_settings where id = 1)'

/** Returns the same. It takes less than all values, whose defaults must be made. */
export const storedSettings = async (): Promise<string | null> =>
  (await row<{ changed: string }>('select changed from application_settings where id = 1'))?.changed ?? null

/** The values of all settings. */
export async function applicationSettings(): Promise<Settings> {
  return (await settingsRecord()).values
}

/** Returns the settings and the time of the last change. With `lock`, nobody else can change them until the transaction ends. */
export async function settingsRecord({ lock = false } = {}): Promise<SettingsRecord> {
  const found = await row<SettingsRow>(lock ? `${SELECT} for update` : SELECT)
  // A migration creates the row. If somebody emptied the table, all defaults apply, and the next change creates the row.
  if (!found && lock) {
    await execute(
      "insert ignore into application_settings (id, changed, created_at, updated_at) values (1, '{}', ?, ?)",
      [new Date(), new Date()]
    )
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
