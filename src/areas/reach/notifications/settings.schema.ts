import { Flag, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import type { EventName } from './levels.js'

const event = (meaning: string) => Type.Optional(Flag(`mail ${meaning}, with the level custom`))

const events = {
  new_note: event('for new notes'),
  new_issue: event('for new issues'),
  reopen_issue: event('when issues are reopened'),
  close_issue: event('when issues are closed'),
  reassign_issue: event('when issues get another assignee'),
  new_merge_request: event('for new merge requests'),
  reopen_merge_request: event('when merge requests are reopened'),
  close_merge_request: event('when merge requests are closed'),
  reassign_merge_request: event('when merge requests get another assignee'),
  merge_merge_request: event('when merge requests are merged'),
  failed_pipeline: event('when pipelines fail'),
  success_pipeline: event('when pipelines succeed')
} satisfies { readonly [Event in EventName]: unknown }

// The rule checks the level, because a wrong level has a specific error.
const level = Type.Optional(Text('disabled, participating, watch, global, mention or custom'))

export const SettingBody = Type.Object(
  { level, ...events },
  { title: 'NotificationSettingBody', description: 'Your notification settings for a project or group.' }
)
export type SettingBody = Static<typeof SettingBody>

export const GlobalSettingBody = Type.Object(
  { level, notification_email: Type.Optional(Text('one of your own addresses, which gets all mail')), ...events },
  {
    title: 'GlobalNotificationSettingBody',
    description: 'Your notification settings where projects and groups have no setting.'
  }
)
export type GlobalSettingBody = Static<typeof GlobalSettingBody>
