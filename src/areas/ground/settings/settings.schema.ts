import { described, Text } from '../../../lib/schema.js'
import { type TSchema, Type } from '../../../lib/type.js'
import { SETTING_NAMES, type Settings, settingOf } from './settings.table.js'

/** The body of a change: any of the settings, and the deprecated setting for a single storage. */
export interface SettingsBody extends Partial<Settings> {
  readonly repository_storage?: string
}

const optional = Object.fromEntries(
  SETTING_NAMES.map(name => [name, Type.Optional(described(settingOf(name).schema, settingOf(name).meaning))])
)

export const SettingsBody = Type.Unsafe<SettingsBody>(
  Type.Object(
    {
      ...(optional as Record<string, TSchema>),
      repository_storage: Type.Optional(
        Text('deprecated: the first of repository_storages', { minLength: 1, maxLength: 64 })
      )
    },
    { title: 'ApplicationSettingsBody', description: 'The settings that change.' }
  )
)
