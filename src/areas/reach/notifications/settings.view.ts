// "Notification settings".
import { described, Flag, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { EVENTS, LEVELS } from './levels.js'
import type { Setting } from './settings.queries.js'

const level = OneOf(LEVELS, 'NotificationLevel', 'which events you get mail about')

const NotificationEvents = Type.Unsafe<Record<string, boolean>>(
  Type.Object(Object.fromEntries(EVENTS.map(name => [name, Flag('whether you get mail about this event')])), {
    title: 'NotificationEvents',
    description: 'The events that cause mail at the level custom.'
  })
)
const events = Type.Optional(described(NotificationEvents, 'only with the level custom'))

export const NotificationSetting = Type.Object(
  { level, events },
  { title: 'NotificationSetting', description: 'Your notification settings for a project or group.' }
)

export const GlobalNotificationSetting = Type.Object(
  { level, notification_email: Text('the address that gets the mail'), events },
  {
    title: 'GlobalNotificationSetting',
    description: 'Your notification settings where projects and groups have no setting.'
  }
)

export const viewNotificationSetting = ({ level, events }: Setting): Static<typeof NotificationSetting> => ({
  level,
  events: level === 'custom' ? Object.fromEntries(EVENTS.map(name => [name, events.has(name)])) : undefined
})

export const viewGlobalNotificationSetting = (
  setting: Setting & { readonly email: string }
): Static<typeof GlobalNotificationSetting> => ({
  ...viewNotificationSetting(setting),
  notification_email: setting.email
})
