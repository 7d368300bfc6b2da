import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendPage } from './page.js'
import { visitorOf } from './visitor.js'

/**
 * Answers a request for a path that does not exist, or whose record the visitor may not read: both must look the same. Programs get
 * JSON.
 */
export async function sendMissing(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.code(404)
  if (!wantsPage(request)) return reply.type('application/json').send({ error: '404 Not Found' })
  // The database may be unavailable.
  const visitor = await visitorOf(request).catch(() => null)
  return sendPage(reply, 'missing', {
    title: 'There is no page here',
    visitor: visitor?.user,
    formToken: visitor?.formToken,
    here: request.url
  })
}

/** Whether a browser follows a link, such as those in mails. */
export const wantsPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && !/^\/(api|ci)\//.test(url) && /\btext\/html\b/.test(headers.accept ?? '')
