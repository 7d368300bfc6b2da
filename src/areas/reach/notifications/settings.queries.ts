import { row } from '../../../db/connect/sql.js'
import { DEFAULT_LEVEL, type EventName, eventsIn, type LevelName, nameOf } from './levels.js'

/** The place that a setting is for. The global setting has the id 0. */
export interface Source {
  readonly type: 'Global' | 'Group' | 'Project'
  readonly id: number
}

export const EVERYTHING: Source = { type: 'Global', id: 0 }

export interface Setting {
  readonly level: LevelName
  readonly events: ReadonlySet<EventName>
}

export interface SettingRow {
  readonly level: number
  readonly events: string
}

/** A missing setting means the level of the global setting. */
export const settingOf = (found: SettingRow | undefined, { type }: Source): Setting => ({
  level: found ? nameOf(found.level) : type === 'Global' ? DEFAULT_LEVEL : 'global',
  events: eventsIn(found?.events ?? null)
})

export async function findSetting(source: Source, userId: number): Promise<Setting> {
  const found = await row<SettingRow>(
    'select level, events from notification_settings where user_id = ? and source_type = ? and source_id = ?',
    [userId, source.type, source.id]
  )
  return settingOf(found, source)
}

/** The global setting, with the address for mail: the chosen address if it still belongs to the user, otherwise the primary one. */
export async function findGlobalSetting(userId: number): Promise<Setting & { readonly email: string }> {
  const found = await row<{ level: number | null; events: string | null; email: string }>(
    `select s.level, s.events, coalesce(e.email, u.email) as email from users u
     left join notification_settings s on s.user_id = u.id and s.source_type = 'Global' and s.source_id = 0
     left join emails e on e.user_id = u.id and e.email_key = lower(s.notification_email)
     where u.id = ?`,
    [userId]
  )
  const setting = found?.level == null ? undefined : { level: found.level, events: found.events ?? '' }
  return { ...settingOf(setting, EVERYTHING), email: found?.email ?? '' }
}
