import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { updateSettings } from './settings.js'
import { settingsRecord } from './settings.queries.js'
import { SettingsBody } from './settings.schema.js'
import { ApplicationSettings, viewSettings } from './settings.view.js'

export const settingsRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'settings.administer' as const }
  const tags = ['Application settings']
  const response = { 200: ApplicationSettings }

  app.get(
    '/application/settings',
    { config, schema: { tags, summary: 'Get the application settings', response } },
    async () => viewSettings(await settingsRecord())
  )

  app.put(
    '/application/settings',
    { config, schema: { tags, summary: 'Change application settings', body: SettingsBody, response } },
    async request => viewSettings((await updateSettings(request.body, request.origin)).record)
  )
}
