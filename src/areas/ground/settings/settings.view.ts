// The record "Application settings" of the requirement.
import { described, Integer, Moment, Text } from '../../../lib/schema.js'
import { type TSchema, Type } from '../../../lib/type.js'
import type { SettingsRecord } from './settings.queries.js'
import { defaultSettings, SETTING_NAMES, type SettingName, settingOf } from './settings.table.js'
import { typeOf } from './settings.words.js'

const schemas = Object.fromEntries(
  SETTING_NAMES.map(name => [name, described(settingOf(name).schema, settingOf(name).meaning)])
) as Record<string, TSchema>

export const ApplicationSettings = Type.Object(
  {
    id: Integer('always 1'),
    ...schemas,
    repository_storage: Text('deprecated: the first of repository_storages'),
    created_at: Moment('when the settings were first stored'),
    updated_at: Moment('when the settings last changed')
  },
  { title: 'ApplicationSettings', description: 'The settings of the whole instance.' }
)

export const viewSettings = ({ values, createdAt, updatedAt }: SettingsRecord) => ({
  id: 1,
  ...values,
  repository_storage: values.repository_storages[0] ?? '',
  created_at: createdAt,
  updated_at: updatedAt
})

/** Returns one setting for the command line. */
export const viewSetting = ({ values }: SettingsRecord, name: SettingName) => {
  const fallback = defaultSettings()[name]
  return {
    name,
    value: values[name],
    default: fallback,
    changed: JSON.stringify(values[name]) !== JSON.stringify(fallback),
    type: typeOf(name),
    meaning: settingOf(name).meaning,
    enforced: settingOf(name).enforced
  }
}
