import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { NumberedUserParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { addEmail, deleteEmail } from './emails.js'
import { listEmails, requireEmail } from './emails.queries.js'
import { EmailBody, EmailParams, UserEmailParams } from './emails.schema.js'
import { Email, viewEmail } from './emails.view.js'
import { requireNumberedUser } from './users.queries.js'

const TAGS = ['Users']

export const emailRoutes: FastifyPluginAsyncTypebox = async app => {
  await app.register(ownEmailRoutes)
  await app.register(othersEmailRoutes)
}

const ownEmailRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'account.read' as const }
  const write = { can: 'account.write' as const }

  app.get(
    '/user/emails',
    {
      config: read,
      schema: { tags: TAGS, summary: 'List your email addresses', response: { 200: Type.Array(Email) } }
    },
    async ({ actor }) => (await listEmails(askerOf(actor).id)).map(viewEmail)
  )

  app.get(
    '/user/emails/:email_id',
    {
      config: read,
      schema: { tags: TAGS, summary: 'Get one of your email addresses', params: EmailParams, response: { 200: Email } }
    },
    async ({ params, actor }) => viewEmail(await requireEmail(askerOf(actor).id, params.email_id))
  )

  app.post(
    '/user/emails',
    {
      config: write,
      schema: { tags: TAGS, summary: 'Add an email address to your account', body: EmailBody, response: { 201: Email } }
    },
    async ({ body, actor, origin }, reply) =>
      reply.code(201).send(viewEmail(await addEmail(askerOf(actor), body, origin)))
  )

  app.delete(
    '/user/emails/:email_id',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Delete one of your email addresses',
        params: EmailParams,
        response: { 200: Email }
      }
    },
    async ({ params, actor, origin }) => viewEmail(await deleteEmail(askerOf(actor), params.email_id, origin))
  )
}

const othersEmailRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'user.read_account' as const }
  const config = { can: 'user.administer' as const }

  app.get(
    '/users/:id/emails',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the email addresses of a user',
        params: NumberedUserParams,
        response: { 200: Type.Array(Email) }
      }
    },
    async ({ params }) => (await listEmails((await requireNumberedUser(params.id)).id)).map(viewEmail)
  )

  app.post(
    '/users/:id/emails',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Add an email address to a user',
        params: NumberedUserParams,
        body: EmailBody,
        response: { 201: Email }
      }
    },
    async ({ params, body, origin }, reply) =>
      reply.code(201).send(viewEmail(await addEmail(await requireNumberedUser(params.id), body, origin)))
  )

  app.delete(
    '/users/:id/emails/:email_id',
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Delete an email address of a user',
        params: UserEmailParams,
        response: { 200: Email }
      }
    },
    async ({ params, origin }) =>
      viewEmail(await deleteEmail(await requireNumberedUser(params.id), params.email_id, origin))
  )
}
