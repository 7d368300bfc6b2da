import { type TSchema, Type } from 'typebox'
import { SETTING_NAMES, type Settings, settingOf } from './settings.table.js'

/** What a change may hold: any of the settings, and the deprecated one that names a single storage. */
export type SettingsBody = Partial<Settings> & { readonly repository_storage?: string }

const optional = Object.fromEntries(SETTING_NAMES.map(name => [name, Type.Optional(settingOf(name).schema)]))

export const SettingsBody = Type.Unsafe<SettingsBody>(
  Type.Object({
    ...(optional as Record<string, TSchema>),
    repository_storage: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'deprecated: the first of repository_storages' })
    )
  })
)
