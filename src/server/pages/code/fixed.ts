// Pages that a commit fixes: the id of the commit is in their address, so a browser that has such a page only asks whether its
// reader may still see it.
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { activeBroadcasts } from '../../../areas/reach/broadcasts/broadcasts.queries.js'
import { version } from '../../../version.js'
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
import { SCRIPT, STYLE } from '../page.js'
import { placeOf } from '../place.js'

export const isFullId = (text: string): boolean => /^[0-9a-f]{40}$/i.test(text)

/**
 * Sends the version of a page to the browser. Returns true when it has this version: the answer is then sent. `content` is what
 * the page shows besides its commit, its visitor and its place.
 */
export async function isKnownPage(request: FastifyRequest, reply: FastifyReply, content = ''): Promise<boolean> {
  const { user } = request.actor
  const broadcasts = await activeBroadcasts()
  const shown = [
    ...[version, STYLE.digest, SCRIPT.digest, request.url, content],
    // The token of the forms belongs to the session.
    ...[request.cookies[SESSION_COOKIE], user?.username, user?.name],
    ...[placeOf(request), broadcasts.map(({ id, message }) => [id, message])]
  ]
  return reply.isKnown(createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 22))
}
