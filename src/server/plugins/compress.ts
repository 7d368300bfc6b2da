// Compresses JSON and text for clients that accept it. Streams are sent unchanged: most of them are packs and archives,
// which are already compressed.
//
// The size of a compressed answer depends on how similar its parts are. If an answer has a secret next to a text of the attacker,
// and the attacker can make a browser send many requests with the rights of its user, sizes reveal the secret (BREACH). So
// answers to writes, records of tokens, and answers of the API for the session cookie are not compressed. Pages are: their only secret,
// the token of their forms, differs each time.
import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  type ZlibOptions
} from 'node:zlib'
import type {} from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { onThread } from '../../lib/threads.js'
import { SESSION_COOKIE } from './authenticate.js'
import { addVary } from './vary.js'

/** Smaller answers fit into one packet anyway. */
const LEAST = 1024
/** Up to this size, compressing takes at most 0.15 ms. In a thread, 32 KB take 0.36 ms of processor time instead of 0.06. */
const SMALL = 65_536
/** The same for pages, of which most are no larger: 300 KB of HTML take 0.7 ms. A thread would take more, because it gets a copy. */
const SMALL_PAGE = 524_288
/** The usual 16 KB would be memory for the collector: a page of 16 KB becomes 2 KB. */
const CHUNK = 4096
/** 256 KB. The usual window of 4 MB is memory that the system would have to clear each time. */
const WINDOW_BITS = 18

/** Of 16 KB of issues, quality 1 leaves 13 % in 31 microseconds; quality 4 leaves 11 % in 100. */
const brotliOf = (payload: string | Buffer) => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 1,
    [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: payload.length
  },
  chunkSize: CHUNK
})
/** Leaves 13 % in 44 microseconds. Level 6 takes 70. The small window needs little memory, which the system would have to clear each time. */
const GZIP = { level: constants.Z_BEST_SPEED, windowBits: 13, memLevel: 6, chunkSize: CHUNK }

const brotliLater = promisify<string | Buffer, BrotliOptions, Buffer>(brotliCompress)
const gzipLater = promisify<string | Buffer, ZlibOptions, Buffer>(gzip)

const CODINGS = {
  br: {
    now: (payload: string | Buffer) => brotliCompressSync(payload, brotliOf(payload)),
    later: (payload: string | Buffer) => brotliLater(payload, brotliOf(payload))
  },
  gzip: {
    now: (payload: string | Buffer) => gzipSync(payload, GZIP),
    later: (payload: string | Buffer) => gzipLater(payload, GZIP)
  }
}

type Coding = keyof typeof CODINGS

const TYPES = /^(application\/(json|atom\+xml)|text\/(?!html)|image\/svg)/
const PAGE = /^text\/html/

/** The routes of records of tokens and passwords, which stand next to texts that users choose. */
const SECRETS = /\/(session|variables|triggers|mirror|runners|personal_access_tokens|applications|oauth)(\/|$)/

/** Not an async function, because it runs for every request and many answers are small. */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (!isLarge(payload) || !mayShrink(request, reply)) return done(null, payload)
    addVary(reply, 'Accept-Encoding')
    const coding = codingFor(request)
    if (coding === undefined) return done(null, payload)
    const small = request.routeOptions.config.page ? SMALL_PAGE : SMALL
    if (payload.length <= small) return done(null, encoded(reply, coding, CODINGS[coding].now(payload)))
    onThread(() => CODINGS[coding].later(payload)).then(smaller => done(null, encoded(reply, coding, smaller)), done)
  })
}

const isLarge = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= LEAST

function mayShrink({ method, cookies, routeOptions }: FastifyRequest, reply: FastifyReply): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (reply.hasHeader('content-encoding')) return false
  const type = String(reply.getHeader('content-type'))
  if (!TYPES.test(type) && !(routeOptions.config.page && PAGE.test(type))) return false
  return (routeOptions.config.page || cookies?.[SESSION_COOKIE] === undefined) && !SECRETS.test(routeOptions.url ?? '')
}

/** Returns the coding that the client prefers; of equal ones, brotli. */
function codingFor({ method, headers }: FastifyRequest): Coding | undefined {
  const accepted = headers['accept-encoding']
  if (method === 'HEAD' || typeof accepted !== 'string') return undefined
  const weights = new Map(accepted.toLowerCase().split(',').map(weighed))
  const weight = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0
  const [br, gzip] = [weight('br'), weight('gzip')]
  if (br > 0) return gzip > br ? 'gzip' : 'br'
  return gzip > 0 ? 'gzip' : undefined
}

function weighed(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map(text => text.trim())
  const quality = parameters.find(text => text.startsWith('q='))
  return [name, quality === undefined ? 1 : Number(quality.slice(2))]
}

function encoded(reply: FastifyReply, coding: Coding, payload: Buffer): Buffer {
  reply.header('content-encoding', coding).removeHeader('content-length')
  return payload
}
