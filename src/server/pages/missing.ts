import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendPage } from './page.js'
import { visitorOf } from './visitor.js'

/** Sends the page for a path that does not exist, or whose record the visitor may not read: both must look the same. */
export async function showMissing(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  // The database may be unavailable.
  const visitor = await visitorOf(request).catch(() => null)
  return sendPage(reply.code(404), 'missing', {
    title: 'There is no page here',
    visitor: visitor?.user,
    formToken: visitor?.formToken,
    here: request.url
  })
}
