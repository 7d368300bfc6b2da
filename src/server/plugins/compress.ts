// Compresses large answers for clients that accept it. Streams are sent unchanged: most of them are packs and archives,
// which are already compressed.
import { promisify } from 'node:util'
import { constants, gzip, type ZlibOptions } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { onThread } from '../../lib/threads.js'

/** Below this size, compression costs more time than it saves bytes. A list of 20 projects has 25 KB. */
const LEAST = 16_384
/** Level 1 takes half the time of level 6, and JSON shrinks to a tenth either way. */
const OPTIONS = { level: constants.Z_BEST_SPEED }

const compress = promisify<string | Buffer, ZlibOptions, Buffer>(gzip)

/** Not an async function, because it runs for every request and most answers are small. */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (!isLarge(payload) || reply.hasHeader('content-encoding')) return done(null, payload)
    reply.header('vary', 'accept-encoding')
    if (!accepts(request)) return done(null, payload)
    onThread(() => compress(payload, OPTIONS)).then(smaller => done(null, encoded(reply, smaller)), done)
  })
}

const isLarge = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= LEAST

function accepts({ method, headers }: FastifyRequest): boolean {
  const accepted = headers['accept-encoding']
  if (method === 'HEAD' || typeof accepted !== 'string') return false
  return accepted.split(',').some(coding => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding))
}

function encoded(reply: FastifyReply, payload: Buffer): Buffer {
  reply.header('content-encoding', 'gzip').removeHeader('content-length')
  return payload
}
