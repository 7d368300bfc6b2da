import { type Actor, askerOf } from '../../../access/actor.js'
import { visibleGroups, visibleProjects } from '../../../access/membership.js'
import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { DEFAULT_LEVEL, type EventName, eventsIn, type LevelName, nameOf, numberOf } from './levels.js'

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

/** A group or project for which a user has chosen a level. */
export interface PlaceSetting {
  readonly type: 'Group' | 'Project'
  /** The whole path. */
  readonly path: string
  readonly level: LevelName
}

/** Returns a page of the groups and projects for which the caller has chosen a level, as far as the caller may still see them. */
export async function listSettings(query: PageRequest, actor: Actor): Promise<Page<PlaceSetting>> {
  const { page, perPage, sql } = window(query)
  const [groups, projects] = [visibleGroups(actor), visibleProjects(actor)]
  const chosen = `s.user_id = ? and s.level <> ${numberOf('global')}`
  const from = `(select 'Group' as type, n.path, s.level
      from notification_settings s join namespaces n on n.id = s.source_id and n.kind = 'group'
      where s.source_type = 'Group' and ${chosen} and ${groups.sql}
    union all select 'Project', concat(w.path, '/', p.path), s.level
      from notification_settings s join projects p on p.id = s.source_id join namespaces w on w.id = p.namespace_id
      where s.source_type = 'Project' and ${chosen} and ${projects.sql}) chosen`
  const user = askerOf(actor).id
  const values = [user, ...groups.values, user, ...projects.values]
  const [items, total] = await Promise.all([
    rows<Omit<PlaceSetting, 'level'> & { level: number }>(`select * from ${from} order by path ${sql}`, values),
    countTotal(`select count(*) as total from ${from}`, values)
  ])
  return { items: items.map(item => ({ ...item, level: nameOf(item.level) })), total, page, perPage }
}
