// Conditional GET: an answer of the API has its version as its ETag, and a client that has this version gets 304 without
// the content. The client must check the answer at each use, because the right to read it may end.
//
// Handlers that know the version before they read the content say so with `isKnown`. All other JSON answers have the hash
// of their text: it takes 1 microsecond for a record and 10 for a page of 16 KB, and no statement.
import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { keepAnswer } from './kept-answers.js'
import { addVary } from './vary.js'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends the version of the answer to the client. Returns true when the client already has this version: the answer is
     * then sent, and the handler returns the reply. The version may contain letters, digits and punctuation except quotes.
     */
    isKnown(version: string): boolean
    /** The version of an answer, if it is known without its text. */
    keptVersion: string | undefined
  }
}

/** 132 bits: two different answers never have the same one. */
const LENGTH = 22

/** Register it before answers are compressed. */
export function answerVersions(app: FastifyInstance): void {
  app.decorateReply('keptVersion', undefined)
  app.decorateReply('isKnown', function (this: FastifyReply, version: string): boolean {
    if (!setVersion(this, version)) return false
    this.code(304).send()
    return true
  })
  // Not an async function, because it runs for every request.
  app.addHook<unknown>('onSend', (_request, reply, payload, done) => {
    if (typeof payload !== 'string' || !isVersioned(reply)) return done(null, payload)
    const version = reply.keptVersion ?? versionOf(reply, payload)
    keepAnswer(reply, payload, version)
    if (!setVersion(reply, version)) return done(null, payload)
    reply.code(304).removeHeader('content-type').removeHeader('content-length')
    // Fastify itself takes the content from an answer to HEAD, and expects some.
    done(null, reply.request.method === 'HEAD' ? '' : null)
  })
}

/** Returns the version of an answer by its text. A page may stay the same while the number of pages changes. */
export const versionOf = (reply: FastifyReply, payload: string): string => {
  const total = reply.hasHeader('x-total') ? `-${reply.getHeader('x-total')}` : ''
  return hash('sha256', payload, 'base64url').slice(0, LENGTH) + total
}

/** Whether the answer is a successful read of the API that has no version yet, and that clients may keep. */
const isVersioned = (reply: FastifyReply): boolean =>
  reply.statusCode === 200 &&
  (reply.request.method === 'GET' || reply.request.method === 'HEAD') &&
  reply.request.url.startsWith('/api/v3/') &&
  !reply.hasHeader('etag') &&
  !reply.hasHeader('cache-control')

/** Returns whether the client has this version. */
function setVersion(reply: FastifyReply, version: string): boolean {
  // A weak tag, because the answer may be compressed.
  reply.headers({ etag: `W/"${version}"`, 'cache-control': 'private, no-cache' })
  // A cache of one client must not mix the answers to its users.
  addVary(reply, 'Private-Token, Authorization, Cookie, Sudo')
  return matches(reply.request.headers['if-none-match'], version)
}

function matches(header: string | undefined, version: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || [...header.matchAll(/"([^"]*)"/g)].some(([, tag]) => tag === version)
}
