import type { Origin } from '../../../access/actor.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Invalid } from '../../../errors.js'
import { audit, type Changes, changesBetween } from '../audit/audit.js'
import { type SettingsRecord, settingsRecord } from './settings.queries.js'
import { SettingsBody } from './settings.schema.js'
import { defaultSettings, isSettingName, SETTING_NAMES, type Settings, settingOf } from './settings.table.js'

/**
 * Changes the given settings; the others stay. Throws BadParameters when no setting is given or when one needs another
 * setting that has no value, Invalid for values that a setting cannot have.
 */
export function updateSettings(
  body: SettingsBody,
  origin: Origin
): Promise<{ record: SettingsRecord; changes: Changes }> {
  return transact(async () => {
    // Locks the row before the read, so that the second of two concurrent changes sees the first.
    const before = await settingsRecord({ lock: true })
    const after = settingsAfter(before.values, body)
    const changes = changesBetween(before.values, after)
    if (Object.keys(changes).length === 0) return { record: before, changes }
    const record = { ...before, values: after, stored: storedOf(before, after), updatedAt: new Date() }
    await execute('update application_settings set changed = ?, updated_at = ? where id = 1', [
      JSON.stringify(record.stored),
      record.updatedAt
    ])
    const target = { type: 'settings', id: 1, name: 'application settings' }
    await audit(origin, { action: 'settings.update', target, changes })
    return { record, changes }
  })
}

/** Returns the changes that `updateSettings` would make, without making them. Throws the same errors. */
export async function settingsChanges(body: SettingsBody): Promise<Changes> {
  const { values } = await settingsRecord()
  return changesBetween(values, settingsAfter(values, body))
}

/** Returns the settings that differ from their defaults: `before` is the default, `after` the value. */
export async function changedSettings(): Promise<Changes> {
  return changesBetween(defaultSettings(), (await settingsRecord()).values)
}

function settingsAfter(before: Settings, body: SettingsBody): Settings {
  const { repository_storage: storage, ...named } = body
  const changed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(named)) {
    if (isSettingName(name) && value !== undefined) changed[name] = withoutBlank(name, value)
  }
  if (storage !== undefined) changed.repository_storages = storagesOf(storage, named.repository_storages)
  if (Object.keys(changed).length === 0) {
    const names = Object.keys((SettingsBody as unknown as { properties: object }).properties)
    throw new BadParameters(`${names.join(', ')} are missing, at least one parameter must be provided`)
  }
  const after = { ...before, ...changed } as Settings
  checkNeeds(after, changed)
  checkValues(changed)
  return after
}

/** Not specified: a blank text means null, because a form cannot send null. */
function withoutBlank(name: keyof Settings, value: unknown): unknown {
  const { schema, none } = settingOf(name)
  const nullable = (schema as { nullable?: boolean }).nullable === true
  return nullable && (value === '' || (none !== undefined && value === none)) ? null : value
}

/** Not specified: a client may send both when it sends back a record that it received. Then they must agree. */
function storagesOf(first: string, all: readonly string[] | undefined): readonly string[] {
  if (settingOf('repository_storages').check?.([first])) {
    throw new BadParameters('repository_storage does not have a valid value')
  }
  if (all === undefined) return [first]
  if (all[0] === first) return all
  throw new BadParameters('repository_storages, repository_storage are mutually exclusive')
}

/** "R if ... is true": the setting that another one needs must be given too, or already have a value. */
function checkNeeds(after: Settings, changed: Record<string, unknown>): void {
  for (const name of SETTING_NAMES) {
    const { needs } = settingOf(name)
    if (needs === undefined || !isSettingName(needs) || after[name] !== true) continue
    const value = after[needs]
    if (value !== null && !(Array.isArray(value) && value.length === 0)) continue
    throw needs in changed ? new Invalid(needs, "can't be blank") : BadParameters.missing(needs)
  }
}

function checkValues(changed: Record<string, unknown>): void {
  const errors: Record<string, string[]> = {}
  for (const [name, value] of Object.entries(changed)) {
    const problem = isSettingName(name) ? settingOf(name).check?.(value) : null
    if (problem) errors[name] = [problem]
  }
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
}

/**
 * Returns the settings to store. Not specified: a setting that gets its default value counts as unchanged, and follows
 * the default from then on. Settings of newer versions stay, for a return to that version.
 */
function storedOf(before: SettingsRecord, after: Settings): Record<string, unknown> {
  const foreign = Object.entries(before.stored).filter(([name]) => !isSettingName(name))
  const fallback = defaultSettings()
  const changed = SETTING_NAMES.filter(name => JSON.stringify(after[name]) !== JSON.stringify(fallback[name]))
  return Object.fromEntries([...foreign, ...changed.map(name => [name, after[name]])])
}
