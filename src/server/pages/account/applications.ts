// The pages of OAuth applications: those that a user has authorized, and those that a user has registered.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { applicationSettings } from '../../../areas/ground/settings/settings.queries.js'
import { withdraw } from '../../../areas/people/credentials/oauth/grants.js'
import { listAuthorizations } from '../../../areas/people/credentials/oauth/grants.queries.js'
import {
  createOwnApplication,
  deleteApplication,
  MOST_APPLICATIONS
} from '../../../areas/people/credentials/oauth-applications.js'
import { listApplications, redirectUrisOf } from '../../../areas/people/credentials/oauth-applications.queries.js'
import { ApplicationBody, ApplicationParams } from '../../../areas/people/credentials/oauth-applications.schema.js'
import { Forbidden } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'
import { ChosenScopes, scopeChoice } from './scope-choice.js'

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
  const write = { can: 'account.write' as const }

  app.get(PAGE, { config: { can: 'account.read' } }, (request, reply) => showApplications(request, reply))

  app.post(PAGE, { config: write, schema: { body: NewApplication } }, async (request, reply) => {
    try {
      const { row, secret } = await createOwnApplication(askerOf(request.actor), request.body, request.origin)
      return showApplications(request, reply.code(201), { made: { name: row.name, uid: row.uid, secret } })
    } catch (error) {
      if (error instanceof Forbidden) throw error
      return showApplications(request, reply.code(400), { entered: request.body, refusals: refusalsOf(error) })
    }
  })

  const one = { config: write, schema: { params: ApplicationParams } }
  app.post(`${PAGE}/:id/delete`, one, async ({ params, actor, origin }, reply) => {
    await deleteApplication(params.id, origin, askerOf(actor).id)
    return reply.redirect(PAGE, 303)
  })

  app.post('/profile/authorizations/:id/revoke', one, async ({ params, actor, origin }, reply) => {
    await withdraw(askerOf(actor).id, params.id === NO_APPLICATION ? null : params.id, origin)
    return reply.redirect(PAGE, 303)
  })
}

interface Shown {
  /** The new application with its secret. No other page shows it. */
  readonly made?: object
  readonly entered?: object
  readonly refusals?: Refusals
}

async function showApplications(
  request: FastifyRequest,
  reply: FastifyReply,
  { made, entered, refusals = {} }: Shown = {}
) {
  const { id, admin } = askerOf(request.actor)
  const [{ user_oauth_applications: allowed }, { items }, authorizations] = await Promise.all([
    applicationSettings(),
    listApplications({ userId: id }, `limit ${MOST_APPLICATIONS}`),
    listAuthorizations(id)
  ])
  return showOwn(request, reply, 'applications', {
    title: 'Applications',
    made,
    entered,
    refusals,
    allowed: allowed || admin,
    scopes: scopeChoice(),
    applications: items.map(row => ({ ...row, uris: redirectUrisOf(row) })),
    authorizations: authorizations.map(({ application_id, name, ...rest }) => ({
      ...rest,
      id: application_id ?? NO_APPLICATION,
      name: name ?? 'your password, sent by no application'
    }))
  })
}
