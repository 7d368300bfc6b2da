// Events as an Atom feed (RFC 4287).
import type { FastifyReply } from 'fastify'
import type { EventLine } from '../../../areas/reach/events/event-lines.js'
import { publicUrl } from '../../../config.js'
import { renderPart } from '../page.js'

interface Feed {
  readonly title: string
  /** The path of the page with the same events. */
  readonly page: string
  readonly events: readonly EventLine[]
}

/** XML has no way to write these characters. */
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

export function sendFeed(reply: FastifyReply, feed: Feed): FastifyReply {
  const { host } = new URL(publicUrl())
  const xml = renderPart('projects/feed', { ...feed, root: publicUrl(), host })
  return reply
    .type('application/atom+xml; charset=utf-8')
    .headers({ 'cache-control': 'no-store', 'content-security-policy': "default-src 'none'; sandbox" })
    .send(xml.trimStart().replace(UNWRITABLE, '\ufffd'))
}
