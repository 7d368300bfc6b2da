// Lets pages of other origins use the API with a token (CORS). They get no credentials of the browser: the session cookie
// does not count in their requests (`isOtherOrigin`).
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { config } from '../../config.js'
import { pageHeaders } from '../openapi/answers.js'

/** The headers of answers that scripts may read, besides those that they may always read. */
const EXPOSED = [
  ...Object.keys(pageHeaders),
  'X-Request-Id',
  'X-Gitstead-Truncated',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Retry-After'
]

/** Browsers keep the answer to a preflight for this many seconds; Chromium keeps none for longer. */
const MAX_AGE = 7200

/**
 * Allows the origins of `http.cors_origins` on the paths of the API. Register it before all hooks that may refuse a request,
 * so that scripts can read why. A preflight, which has no credentials, is answered at once for every path.
 */
export async function allowOrigins(app: FastifyInstance): Promise<void> {
  const origins = [...config().http.cors_origins]
  if (origins.length === 0) return
  const options = {
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    maxAge: MAX_AGE
  }
  await app.register(cors, {
    delegator: ({ url, headers }, done) => {
      const origin = url.startsWith('/api/') && origins
      // Without this header it is no preflight, but asks for the methods of the path.
      done(null, { ...options, origin, preflight: headers['access-control-request-method'] !== undefined })
    }
  })
}
