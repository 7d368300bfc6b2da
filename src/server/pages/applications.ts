// The pages of OAuth applications: those that a user has authorized, and those that a user has registered.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applicationSettings } from '../../areas/ground/settings/settings.queries.js'
import { withdraw } from '../../areas/people/credentials/oauth/grants.js'
import { listAuthorizations } from '../../areas/people/credentials/oauth/grants.queries.js'
import {
  createOwnApplication,
  deleteApplication,
  MOST_APPLICATIONS
} from '../../areas/people/credentials/oauth-applications.js'
import { listApplications, redirectUrisOf } from '../../areas/people/credentials/oauth-applications.queries.js'
import { ApplicationBody, ApplicationParams } from '../../areas/people/credentials/oauth-applications.schema.js'
import { Type } from '../../lib/type.js'
import { shown } from './page.js'
import { requireVisitors } from './page-routes.js'
import { ChosenScopes, page, scopeChoice, sendOwn } from './profile.js'

const NewApplication = Type.Object({
  name: ApplicationBody.properties.name,
  redirect_uri: ApplicationBody.properties.redirect_uri,
  confidential: ApplicationBody.properties.confidential,
  scopes: ChosenScopes
})

const PAGE = '/profile/applications'
/** Stands for the tokens that were issued for a password, without an application. */
const NO_APPLICATION = 0

export const applicationPages: FastifyPluginAsyncTypebox = async app => {
  requireVisitors(app as never)
  const { config, schema } = page

  app.get(PAGE, page, async (request, reply) => show(request, reply))

  app.post(PAGE, { config, schema: { ...schema, body: NewApplication } }, async (request, reply) => {
    const { user, origin } = request.visitor
    const { row, secret } = await createOwnApplication(user, request.body, origin)
    return show(request, reply.code(201), { name: row.name, uid: row.uid, secret })
  })

  const one = { config, schema: { ...schema, params: ApplicationParams } }
  app.post(`${PAGE}/:id/delete`, one, async ({ params, visitor: { user, origin } }, reply) => {
    await deleteApplication(params.id, origin, user.id)
    return reply.redirect(PAGE, 303)
  })

  app.post('/profile/authorizations/:id/revoke', one, async ({ params, visitor: { user, origin } }, reply) => {
    await withdraw(user.id, params.id === NO_APPLICATION ? null : params.id, origin)
    return reply.redirect(PAGE, 303)
  })
}

async function show(request: FastifyRequest, reply: FastifyReply, made?: object): Promise<FastifyReply> {
  const { id, admin } = request.visitor.user
  const [{ user_oauth_applications: allowed }, { items }, authorizations] = await Promise.all([
    applicationSettings(),
    listApplications({ userId: id }, `limit ${MOST_APPLICATIONS}`),
    listAuthorizations(id)
  ])
  return sendOwn(request, reply, 'applications', {
    title: 'Applications',
    made,
    allowed: allowed || admin,
    scopes: scopeChoice(),
    applications: items.map(row => ({ ...row, uris: redirectUrisOf(row) })),
    authorizations: authorizations.map(({ application_id, name, scopes, since, last_used_at }) => ({
      id: application_id ?? NO_APPLICATION,
      name: name ?? 'your password, sent by no application',
      scopes,
      since: shown(since),
      used: shown(last_used_at)
    }))
  })
}
