// Conditional GET: an answer with a known version has it as its ETag, and a client that has this version gets 304 without
// the content. The client must check the answer at each use, because the right to read it may end.
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends the version of the answer to the client. Returns true when the client already has this version: the answer is
     * then sent, and the handler returns the reply. The version may contain letters, digits and punctuation except quotes.
     */
    isKnown(version: string): boolean
  }
}

export function answerVersions(app: FastifyInstance): void {
  app.decorateReply('isKnown', function (this: FastifyReply, version: string): boolean {
    // A weak tag, because a proxy may compress the answer.
    this.headers({ etag: `W/"${version}"`, 'cache-control': 'private, no-cache' })
    if (!matches(this.request.headers['if-none-match'], version)) return false
    this.code(304).send()
    return true
  })
}

function matches(header: string | undefined, version: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || [...header.matchAll(/"([^"]*)"/g)].some(([, tag]) => tag === version)
}
