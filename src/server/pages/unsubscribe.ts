// The page that ends mail, opened by a link in a mail. Mail programs send the same form on their own (RFC 8058), without a
// cookie: the link proves that the sender got the mail. A GET changes nothing, because mail filters follow all links.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { type LinkValues, readLink } from '../../areas/reach/mail/links.js'
import { unsubscribe } from '../../areas/reach/notifications/unsubscribe.js'
import { nameOfList } from '../../areas/reach/notifications/unsubscribed.queries.js'
import { sendPage } from './page.js'

export const unsubscribeRoutes: FastifyPluginAsyncTypebox = async app => {
  const page = { config: { public: true as const }, schema: { hide: true } }

  app.get('/-/unsubscribe', page, async (request, reply) => {
    const { token, found, name } = await read(request.query)
    if (!found) return refuse(reply)
    return show(reply, { token, name, done: false })
  })

  app.post('/-/unsubscribe', { ...page, bodyLimit: 16_384 }, async (request, reply) => {
    const { token, found, name } = await read(request.query)
    if (!found) return refuse(reply)
    // A deleted record sends no mail.
    if (name !== null) await unsubscribe(found)
    return show(reply, { token, name, done: true })
  })
}

interface Read {
  readonly token: string
  readonly found: LinkValues['unsubscribe'] | null
  readonly name: string | null
}

async function read(query: unknown): Promise<Read> {
  const { token } = query as { token?: unknown }
  const found = typeof token === 'string' ? readLink('unsubscribe', token) : null
  return { token: String(token), found, name: found && (await nameOfList(found)) }
}

const show = (reply: FastifyReply, { token, name, done }: { token: string; name: string | null; done: boolean }) =>
  sendPage(reply, 'unsubscribe', { title: 'Unsubscribe', small: true, token, name, done })

const refuse = (reply: FastifyReply) =>
  sendPage(reply.code(404), 'problem', {
    title: 'This link does not work',
    small: true,
    problem: 'It is incomplete, or from another server. Copy the whole link from the mail.',
    back: '/'
  })
