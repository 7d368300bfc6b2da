import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { addEmail, deleteEmail } from '../../../areas/people/users/emails.js'
import { listAddresses, requireEmail } from '../../../areas/people/users/emails.queries.js'
import { EmailParams } from '../../../areas/people/users/emails.schema.js'
import { askForMail } from '../../../areas/reach/accounts/link-requests.js'
import { Type } from '../../../lib/type.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'

const PATH = '/profile/emails'

const NewEmail = Type.Object({ email: Type.Optional(Type.String({ maxLength: 255 })) })

export const emailPages: FastifyPluginAsyncTypebox = async app => {
  const write = { can: 'account.write' as const }
  const one = { config: write, schema: { params: EmailParams } }

  app.get(PATH, { config: { can: 'account.read' } }, (request, reply) => showEmails(request, reply))

  app.post(PATH, { config: write, schema: { body: NewEmail } }, async (request, reply) => {
    const email = (request.body.email ?? '').trim()
    try {
      await addEmail(askerOf(request.actor), { email }, request.origin)
    } catch (error) {
      return showEmails(request, reply.code(400), email, refusalsOf(error))
    }
    return reply.redirect(PATH, 303)
  })

  app.post(`${PATH}/:email_id/delete`, one, async ({ actor, params, origin }, reply) => {
    await deleteEmail(askerOf(actor), params.email_id, origin)
    return reply.redirect(PATH, 303)
  })

  app.post(`${PATH}/:email_id/confirm`, one, async ({ actor, params, address }, reply) => {
    const { email } = await requireEmail(askerOf(actor).id, params.email_id)
    await askForMail('confirmation', email, address)
    return reply.redirect(`${PATH}?sent=1`, 303)
  })
}

async function showEmails(request: FastifyRequest, reply: FastifyReply, entered = '', refusals: Refusals = {}) {
  const addresses = await listAddresses(askerOf(request.actor).id)
  const { sent } = request.query as { sent?: string }
  return showOwn(request, reply, 'emails', { title: 'Addresses', addresses, entered, refusals, sent: sent === '1' })
}
