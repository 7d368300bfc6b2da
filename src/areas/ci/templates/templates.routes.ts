import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { findTemplate, listTemplates, type TemplateKind } from './files.js'
import { Template, TemplateName, viewTemplate, viewTemplateName } from './files.view.js'
import { findLicense, listLicenses } from './licenses.js'
import { LicenseTemplate, viewLicense } from './licenses.view.js'
import { LicenseListQuery, LicenseQuery, TemplateParams } from './templates.schema.js'

const config = { can: 'template.read' as const }
const TAGS = ['Templates']

/** The lists have no pages. Older clients use the paths without /templates. */
export const templateRoutes: FastifyPluginAsyncTypebox = async app => {
  await app.register(templates, { prefix: '/templates', deprecated: false })
  await app.register(templates, { prefix: '', deprecated: true })
}

const templates: FastifyPluginAsyncTypebox<{ deprecated: boolean }> = async (app, { deprecated }) => {
  app.get(
    '/licenses',
    {
      config,
      schema: {
        tags: TAGS,
        deprecated,
        summary: 'List licenses',
        querystring: LicenseListQuery,
        response: { 200: Type.Array(LicenseTemplate) }
      }
    },
    async ({ query }) => listLicenses(query.popular).map(viewLicense)
  )

  app.get(
    '/licenses/:key',
    {
      config,
      schema: {
        tags: TAGS,
        deprecated,
        summary: 'Get a license',
        params: TemplateParams,
        querystring: LicenseQuery,
        response: { 200: LicenseTemplate }
      }
    },
    async ({ params, query, actor }) => viewLicense(findLicense(params.key, query, actor))
  )

  const files = (kind: TemplateKind, things: string, path = `/${kind}`) => {
    app.get(
      path,
      {
        config,
        schema: {
          tags: TAGS,
          deprecated,
          summary: `List templates of ${things}`,
          response: { 200: Type.Array(TemplateName) }
        }
      },
      async () => listTemplates(kind).map(viewTemplateName)
    )
    app.get(
      `${path}/:key`,
      {
        config,
        schema: {
          tags: TAGS,
          deprecated,
          summary: `Get a template of ${things}`,
          params: TemplateParams,
          response: { 200: Template }
        }
      },
      async ({ params }) => viewTemplate(findTemplate(kind, params.key))
    )
  }

  files('gitignores', 'ignore files')
  files('dockerfiles', 'Dockerfiles')
  files('gitstead_ci_ymls', 'CI files')
  // Existing clients use this name, just as the .gitlab-ci.yml of a project is also read.
  files('gitstead_ci_ymls', 'CI files', '/gitlab_ci_ymls')
}
