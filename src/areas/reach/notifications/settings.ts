// The notification settings of users: for a project, for a group, and everywhere else.
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadRequest, Invalid, NotFound } from '../../../errors.js'
import { holdUser } from '../../people/users/users.queries.js'
import { holdProject } from '../../projects/projects/projects.queries.js'
import { EVENTS, type EventName, isLevel, numberOf } from './levels.js'
import { EVERYTHING, type Setting, type SettingRow, type Source, settingOf } from './settings.queries.js'
import type { GlobalSettingBody, SettingBody } from './settings.schema.js'

/**
 * Not specified: how mail about pipelines starts again after somebody unsubscribed from it. A choice of a level, or of an event of
 * pipelines, starts it. Throws BadRequest for a level that does not exist, and NotFound when the project or group was
 * just deleted.
 */
export async function saveSetting(source: Source, userId: number, { level, ...events }: SettingBody): Promise<void> {
  if (level !== undefined && !isLevel(level)) throw new BadRequest(`'${level}' is not a valid level`)
  await transact(async () => {
    await holdUser(userId)
    await hold(source)
    const before = await row<SettingRow>(
      `select level, events from notification_settings where user_id = ? and source_type = ? and source_id = ? for update`,
      [userId, source.type, source.id]
    )
    const old = settingOf(before, source)
    const next = { level: level ?? old.level, events: changed(old.events, events) }
    // The first save of any other level clears the events; later saves keep them, so that they apply again with the level custom.
    await write(source, userId, before || next.level === 'custom' ? next : { ...next, events: new Set() })
    if (level !== undefined || events.failed_pipeline || events.success_pipeline)
      await returnToPipelines(source, userId)
  })
}

/**
 * Saves the global setting and the address for mail. Throws Invalid for an address that does not belong to the user, and the
 * errors of `saveSetting`.
 */
export async function saveGlobalSetting(
  userId: number,
  { notification_email: email, ...setting }: GlobalSettingBody
): Promise<void> {
  await transact(async () => {
    await saveSetting(EVERYTHING, userId, setting)
    if (email === undefined) return
    if (!(await isOwn(userId, email))) throw new Invalid('notification_email', 'is not an email you own')
    await execute(
      `update notification_settings set notification_email = ? where user_id = ? and source_type = 'Global' and source_id = 0`,
      [email, userId]
    )
  })
}

function changed(before: ReadonlySet<EventName>, given: { readonly [Event in EventName]?: boolean }): Set<EventName> {
  return new Set(EVENTS.filter(name => given[name] ?? before.has(name)))
}

async function returnToPipelines({ type, id }: Source, userId: number): Promise<void> {
  await execute(
    'update notification_settings set without_pipelines = false where user_id = ? and source_type = ? and source_id = ?',
    [userId, type, id]
  )
}

/** Stops the mail about pipelines of a project to a user, who keeps the level. Throws NotFound when either was just deleted. */
export async function leavePipelines(projectId: number, userId: number): Promise<void> {
  await transact(async () => {
    await saveSetting({ type: 'Project', id: projectId }, userId, {})
    await execute(
      `update notification_settings set without_pipelines = true where user_id = ? and source_type = 'Project' and source_id = ?`,
      [userId, projectId]
    )
  })
}

async function write(source: Source, userId: number, { level, events }: Setting): Promise<void> {
  const [now, number, list] = [new Date(), numberOf(level), [...events].join(',')]
  await execute(
    `insert into notification_settings (user_id, source_type, source_id, level, events, created_at, updated_at)
     values (?, ?, ?, ?, ?, ?, ?) on duplicate key update level = ?, events = ?, updated_at = ?`,
    [userId, source.type, source.id, number, list, now, now, number, list, now]
  )
}

async function hold({ type, id }: Source): Promise<void> {
  if (type === 'Project' && !(await holdProject(id))) throw new NotFound('Project')
  if (type === 'Group' && !(await row('select id from namespaces where id = ? lock in share mode', [id])))
    throw new NotFound('Group')
}

/** Compares addresses without regard to case. */
const isOwn = async (userId: number, email: string): Promise<boolean> =>
  (await row(
    `select 1 from users where id = ? and email_key = lower(?)
     union all select 1 from emails where user_id = ? and email_key = lower(?)`,
    [userId, email, userId, email]
  )) !== undefined
