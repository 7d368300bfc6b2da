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

// The rule checks it: a wrong one has an error of its own.
const level = Type.Optional(Text('disabled, participating, watch, global, mention or custom'))

export const SettingBody = Type.Object(
  { level, ...events },
  { title: 'NotificationSettingBody', description: 'What you want mail for, in a project or group.' }
)
export type SettingBody = Static<typeof SettingBody>

export const GlobalSettingBody = Type.Object(
  { level, notification_email: Type.Optional(Text('one of your own addresses, for all mail')), ...events },
  {
    title: 'GlobalNotificationSettingBody',
    description: 'What you want mail for, where projects and groups leave it open.'
  }
)
export type GlobalSettingBody = Static<typeof GlobalSettingBody>
