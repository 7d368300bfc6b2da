import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { GroupParams, ProjectParams } from '../../../lib/schema.js'
import { saveGlobalSetting, saveSetting } from './settings.js'
import { findGlobalSetting, findSetting, type Source } from './settings.queries.js'
import { GlobalSettingBody, SettingBody } from './settings.schema.js'
import {
  GlobalNotificationSetting,
  NotificationSetting,
  viewGlobalNotificationSetting,
  viewNotificationSetting
} from './settings.view.js'

const TAGS = ['Notification settings']

interface Asked {
  readonly project: { readonly id: number }
  readonly group: { readonly id: number }
}

const PLACES = [
  {
    of: 'project',
    path: '/projects/:id/notification_settings',
    can: 'notification_setting.project',
    params: ProjectParams,
    source: ({ project }: Asked): Source => ({ type: 'Project', id: project.id })
  },
  {
    of: 'group',
    path: '/groups/:id/notification_settings',
    can: 'notification_setting.group',
    params: GroupParams,
    source: ({ group }: Asked): Source => ({ type: 'Group', id: group.id })
  }
] as const

export const notificationSettingRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'notification_setting.own' as const }
  const own = { tags: TAGS, response: { 200: GlobalNotificationSetting } }

  app.get(
    '/notification_settings',
    { config, schema: { ...own, summary: 'Get your global notification settings' } },
    async ({ actor }) => viewGlobalNotificationSetting(await findGlobalSetting(askerOf(actor).id))
  )

  app.put(
    '/notification_settings',
    {
      config,
      schema: {
        ...own,
        summary: 'Change your global notification settings',
        description: 'The events only apply with the level custom.',
        body: GlobalSettingBody
      }
    },
    async ({ actor, body }) => {
      const { id } = askerOf(actor)
      await saveGlobalSetting(id, body)
      return viewGlobalNotificationSetting(await findGlobalSetting(id))
    }
  )

  for (const { of, path, can, params, source } of PLACES) {
    const one = { tags: TAGS, params, response: { 200: NotificationSetting } }

    app.get(
      path,
      { config: { can }, schema: { ...one, summary: `Get your notification settings for a ${of}` } },
      async request => viewNotificationSetting(await findSetting(source(request), askerOf(request.actor).id))
    )

    app.put(
      path,
      {
        config: { can },
        schema: {
          ...one,
          summary: `Change your notification settings for a ${of}`,
          description:
            'The level global uses the setting of the next larger place. The events only apply with the level custom.',
          body: SettingBody
        }
      },
      async request => {
        const { id } = askerOf(request.actor)
        await saveSetting(source(request), id, request.body)
        return viewNotificationSetting(await findSetting(source(request), id))
      }
    )
  }
}
