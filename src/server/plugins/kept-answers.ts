// Keeps answers of reads. A route whose config says `kept` reads the version of its project (db/connect/content.ts) with the statement
// that checks the token and finds the project. If this statement returns the same values as before, nothing has changed that the
// answer shows, in this process or another one, and the text of the last answer is sent again: without a further statement.
//
// An answer is kept only if the version proves all statements that it was made with (`readsContentOnly`). The caller's token,
// rights and project are checked as for each other request, before this.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { forgetWithPool } from '../../db/connect/connection.js'
import { readsContentOnly } from '../../db/ownership/proven.js'
import { memoryOf } from '../../lib/bytes.js'
import { type Reading, requestScope } from '../../lib/request-scope.js'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * For a handler whose first reads prove the rest of its answer: `proof` is the text of what they have returned, with the versions
     * of all projects that the rest reads. Sends the last answer and returns true if its proof was the same. Otherwise the answer
     * that the handler makes is kept, under the same conditions as that of a `kept` route.
     */
    sendKept(proof: string): boolean
  }
  interface FastifyRequest {
    /** Set while the request makes an answer that may be kept. */
    making: Making | null
  }
}

interface Making {
  readonly key: string
  readonly proof: string
  readonly reading: Reading
}

interface Answer {
  readonly proof: string
  readonly text: string
  readonly headers: { readonly [name: string]: string }
  readonly version: string
  readonly until: number
}

/** Bytes of the keys and answers together. */
const MOST = 16_777_216
/** Characters. A list of 400 labels has 70,000: it has no pages. */
const MOST_OF_ONE = 262_144
const LONGEST_URL = 500
/** Bytes for the objects of an answer. */
const EXTRA = 1000
/** Milliseconds. It limits the effect of rows that were changed without the product, such as by hand. */
const KEEP_MS = 10_000
const HEADERS = ['x-total', 'x-total-pages', 'x-per-page', 'x-page', 'x-next-page', 'x-prev-page', 'link']
/** Not kept: the cache must not hold secrets. */
const SECRET = /token/i

const kept = new LRUCache<string, Answer>({
  maxSize: MOST,
  sizeCalculation: ({ text, proof, headers }, key) =>
    EXTRA + [key, text, proof, ...Object.values(headers)].reduce((sum, each) => sum + memoryOf(each), 0)
})
forgetWithPool(() => kept.clear())

/** Sends the kept answer to a request whose project was found. Without one, notes what the new answer depends on. */
export function sendKept(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { actor, found, routeOptions } = request
  // With sudo, the project was read again for another user, without the version.
  if (!routeOptions.config.kept || found?.actor !== actor) return undefined
  // Everything that the statement has read, about the token, the user, the project and the version.
  return reply.sendKept(JSON.stringify(found.project)) ? reply : undefined
}

function sendLast(reply: FastifyReply, proof: string): boolean {
  const { request } = reply
  const scope = requestScope.getStore()
  if (!scope || request.url.length > LONGEST_URL || SECRET.test(request.url)) return false
  const key = `${request.actor.user?.id} ${request.url}`
  const answer = kept.get(key)
  if (answer && answer.proof === proof && Date.now() < answer.until) {
    reply.keptVersion = answer.version
    reply.headers(answer.headers).type('application/json; charset=utf-8').send(answer.text)
    return true
  }
  const reading = { statements: new Set<string>(), until: Date.now() + KEEP_MS }
  scope.reading = reading
  request.making = { key, proof, reading }
  return false
}

/** Lets handlers send kept answers. `answerVersions` keeps them. */
export function keepAnswers(app: FastifyInstance): void {
  app.decorateRequest('making', null)
  app.decorateReply('sendKept', function (this: FastifyReply, proof: string): boolean {
    return sendLast(this, proof)
  })
}

/** Keeps the text of an answer, if its request makes one that may be kept. It has its version, and its client may get only that. */
export function keepAnswer(reply: FastifyReply, text: string, version: string): void {
  const { making } = reply.request
  if (!making) return
  const { key, proof, reading } = making
  if (text.length > MOST_OF_ONE || ![...reading.statements].every(readsContentOnly)) return
  const names = HEADERS.filter(name => reply.hasHeader(name))
  const headers = Object.fromEntries(names.map(name => [name, String(reply.getHeader(name))]))
  kept.set(key, { proof, text, headers, version, until: reading.until })
}
