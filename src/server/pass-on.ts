// Passes requests about a project on to the machine that owns the storage of its repository (cluster/storages.ts), at most once.
//
// A request that writes to a project goes there before its body is read. A read stays here, where most reads need only rows; one
// whose handler asks for a repository of another machine is passed on then, and so is each later request of the same route at once.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { abilityOf } from '../access/abilities.js'
import { canSee } from '../access/authorize.js'
import { forgetForm } from '../areas/ground/forms/sent-forms.js'
import { findProject } from '../areas/projects/projects/projects.queries.js'
import { storageOf } from '../areas/projects/projects/repositories.js'
import { askPeer, PASSED_ON, passedOnFor } from '../cluster/peers.js'
import { addressOfOwner, isCluster, ownerNow } from '../cluster/storages.js'
import { config } from '../config.js'
import { forgetWithPool } from '../db/connect/connection.js'
import { NotHere, Unavailable } from '../errors.js'
import { requestScope } from '../lib/request-scope.js'
import { log } from '../log.js'
import { identify } from './plugins/authenticate.js'
import { sentBodies } from './sent-bodies.js'

/** How long this server may send requests to the former machine of a project that has moved: that one answers 421, see below. */
const KNOWN_MS = 1000
const KNOWN = 10_000
/** A machine that does not answer may have died: the storage has no owner or another one after six seconds. */
const TRIES_MS = 8_000
const PAUSE_MS = 250
/** Milliseconds between two lines of the log about one machine, which may be away for hours. */
const WARN_MS = 10_000
/** RFC 9110: the request went to a server that cannot answer it. */
const MISDIRECTED = 421
/** Names the storage that the request needs: a merge request from a fork needs the one of its target. */
const WANTED = 'x-gitstead-storage'

/** Headers of one connection, which the next one sets itself (RFC 9110, "Connection"). */
const OF_CONNECTION = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect'
]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For a route without `can` that writes: throws unless the caller may know the project. */
    readonly mayKnow?: (request: FastifyRequest) => Promise<void>
    /** Every machine gives the same answer. */
    readonly anyMachine?: true
  }
}

/** The routes whose reads turned out to need a repository. */
const learned = new Set<string>()
const storages = new LRUCache<string, { readonly storage: string | undefined }>({ max: KNOWN, ttl: KNOWN_MS })

export function passOnRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!isCluster() || isPassedOn(request) || !needsOwner(request)) return done()
    passOnByName(request, reply).then(passed => {
      if (!passed) done()
    }, done)
  })
}

/** Whether another machine has passed this request on, so that this one must answer it. */
const isPassedOn = (request: FastifyRequest): boolean => passedOnFor(request.raw) !== undefined

const reads = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

const routeOf = ({ method, routeOptions }: FastifyRequest) => `${method} ${routeOptions.url}`

const needsOwner = (request: FastifyRequest): boolean =>
  request.routeOptions.config.anyMachine !== true &&
  nameOf(request) !== undefined &&
  (!reads(request) || learned.has(routeOf(request)))

/** Returns the id or the path of the project in the URL; undefined for a URL without one. */
function nameOf({ params, routeOptions }: FastifyRequest): string | undefined {
  const { id, namespace, project } = params as Record<string, string | undefined>
  if (namespace !== undefined && project !== undefined) return `${namespace}/${project.replace(/\.git$/, '')}`
  const { can } = routeOptions.config
  return can !== undefined && abilityOf(can).on === 'project' ? id : undefined
}

async function passOnByName(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const storage = await knownStorageOf(nameOf(request) ?? '')
  // The answer for a project that does not exist is the same everywhere.
  if (storage === undefined || ownerNow(storage) === null || !(await mayPassOn(request, storage))) return false
  const address = await addressOfOwner(storage)
  if (address === null) return false
  const body = isSmall(request) ? Buffer.concat(await request.raw.toArray()) : UNREAD
  await passOn(request, reply, address, body)
  return true
}

/**
 * Whether a failure of the owner may be the answer. Others get the answer of this machine, which is the same as for a project that does
 * not exist: otherwise strangers would learn which private projects exist while the owner is away.
 */
async function mayPassOn(request: FastifyRequest, storage: string): Promise<boolean> {
  const { can, mayKnow } = request.routeOptions.config
  // The handler checks the caller before it needs the repository, and passes the request on then.
  if (reads(request)) return ownerNow(storage) !== undefined
  if (can !== undefined) {
    // Throws for wrong credentials, as for any other request. Those in a body come too late for this.
    await identify(request)
    const project = await findProject(nameOf(request) ?? '', request.actor)
    return project !== undefined && canSee(project, request.actor)
  }
  // Comparing a password takes long, and the owner does it again.
  if (ownerNow(storage) === undefined) await mayKnow?.(request)
  return true
}

async function knownStorageOf(name: string): Promise<string | undefined> {
  const known = storages.get(name)
  if (known) return known.storage
  const storage = await storageOf(name)
  storages.set(name, { storage })
  return storage
}

/**
 * Passes on a request whose handler has failed because a repository is on another machine. Returns false for another failure, and when
 * the request has written something: another machine would write it again. That is rare, because what a rule writes, it writes together,
 * and it reads the repository before.
 */
export async function passOnAfter(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  if (!(error instanceof NotHere) || reply.sent || requestScope.getStore()?.hasWritten) return false
  if (isPassedOn(request)) {
    reply.code(MISDIRECTED).header(WANTED, error.storage).type('application/json')
    reply.send({ message: '421 Misdirected Request' })
    return true
  }
  const isUnread = !reads(request) && isStill(request)
  if (reads(request)) learned.add(routeOf(request))
  else if (!isUnread && !isPlain(request.body) && !sentBodies.has(request)) return false
  storages.delete(nameOf(request) ?? '')
  const address = await addressOfOwner(error.storage)
  if (address === null && (isUnread || again.getStore())) return false
  // A form is accepted once, and now it is sent once more.
  if (request.acceptedForm) await forgetForm(request.acceptedForm)
  const body = reads(request) ? undefined : isUnread ? UNREAD : (sentBodies.get(request) ?? request.body)
  if (address === null) await answerAgain(request, reply, body)
  else await passOn(request, reply, address, body)
  return true
}

/** Set while a request is answered for the second time. */
const again = new AsyncLocalStorage<true>()

/** Answers a request from the beginning: its repository is here, but it was in another storage, or on another machine, at first. */
async function answerAgain(request: FastifyRequest, reply: FastifyReply, body: unknown): Promise<void> {
  const { raw, method, originalUrl: url, server } = request
  const content = contentOf(body)
  const { remoteAddress } = raw.socket
  const asked = {
    ...{ method: method as 'POST', url, headers: headersFor(raw.headers, Buffer.isBuffer(body) ? undefined : content) },
    ...(content !== '' && { payload: content }),
    ...(remoteAddress !== undefined && { remoteAddress })
  }
  const answer = await again.run(true, () => server.inject(asked))
  reply.hijack()
  reply.raw.writeHead(answer.statusCode, kept(answer.headers as IncomingHttpHeaders)).end(answer.rawPayload)
}

/** Whether the body is a stream of which nothing has been read, such as that of a push. */
const isStill = ({ raw, body }: FastifyRequest): boolean =>
  body === raw && raw.readableFlowing === null && !raw.readableDidRead

const isPlain = (body: unknown): boolean =>
  body === undefined || body === null || Object.getPrototypeOf(body) === Object.prototype

/** A body up to this size, in bytes, is read first, so that it can be sent again to the next owner of the storage. */
const SMALL = 65_536

export const isSmall = ({ raw }: FastifyRequest): boolean =>
  Number(raw.headers['content-length'] ?? Number.NaN) <= SMALL

/** A body that has not been read: it is passed on as it arrives. */
const UNREAD = Symbol('a body that has not been read')

async function passOn(request: FastifyRequest, reply: FastifyReply, first: string, body: unknown): Promise<void> {
  const leaving = new AbortController()
  reply.raw.once('close', () => leaving.abort())
  const end = performance.now() + TRIES_MS
  for (let address: string | null = first; address !== null; ) {
    const outcome = await tryOne(request, reply, { address, body, signal: leaving.signal })
    if (outcome === 'answered') return
    const wanted = typeof outcome === 'string' ? undefined : outcome.wanted
    if (leaving.signal.aborted) return void reply.hijack()
    await request.routeOptions.config.mayKnow?.(request)
    if (outcome === 'lost' || performance.now() > end) return refuse(request, reply)
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
    const name = nameOf(request)
    if (name !== undefined) storages.delete(name)
    const known = name === undefined ? undefined : await knownStorageOf(name).catch(() => undefined)
    const storage = wanted ?? known
    if (storage === undefined) continue
    // When this machine has become the owner itself, it answers like any other: this reply can no longer come from a handler.
    address = await addressOfOwner(storage).then(
      found => found ?? config().cluster.address,
      () => null
    )
  }
  refuse(request, reply)
}

function refuse({ headers }: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply.hijack()
  if (raw.headersSent) return void raw.destroy()
  const reason = 'the machine of this repository does not answer'
  // Git shows a text only.
  const [type, body] = headers['user-agent']?.startsWith('git/')
    ? ['text/plain; charset=utf-8', `${reason}\n`]
    : ['application/json', JSON.stringify({ message: `503 Service Unavailable - ${reason}` })]
  raw.writeHead(503, { 'content-type': type, 'retry-after': '2', connection: 'close' }).end(body)
}

/**
 * Sends the request to one machine. `again`: nothing has reached it, or it may be asked again; `wanted`: the same, at the machine of that
 * storage. `lost`: it may have done what the request asks for, and nobody knows.
 */
function tryOne(
  request: FastifyRequest,
  reply: FastifyReply,
  { address, body, signal }: { readonly address: string; readonly body: unknown; readonly signal: AbortSignal }
): Promise<'answered' | 'again' | 'lost' | { readonly wanted: string }> {
  const { raw } = request
  const content = body === UNREAD ? undefined : contentOf(body)
  const headers = headersFor(raw.headers, Buffer.isBuffer(body) ? undefined : content)
  const asked = askPeer(address, {
    method: request.method,
    url: request.originalUrl,
    headers,
    client: request.address,
    signal
  })
  let isSent = false
  return new Promise(resolve => {
    whenConnected(asked, () => {
      isSent = true
      if (content === undefined) raw.pipe(asked)
      else asked.end(content)
    })
    asked.once('timeout', () => asked.destroy(new Unavailable('the other machine is silent')))
    asked.once('error', error => {
      if (!signal.aborted) warnOf(address, error)
      resolve(reply.raw.headersSent || (isSent && !reads(request)) ? 'lost' : 'again')
    })
    asked.once('response', answer => {
      if (answer.statusCode === MISDIRECTED) {
        answer.resume()
        const wanted = answer.headers[WANTED]
        if (content === undefined && !reads(request)) return resolve('lost')
        return resolve(typeof wanted === 'string' ? { wanted } : 'again')
      }
      reply.hijack()
      reply.raw.writeHead(answer.statusCode ?? 502, kept(answer.headers))
      answer.once('error', () => reply.raw.destroy())
      answer.pipe(reply.raw)
      resolve('answered')
    })
  })
}

const warned = new LRUCache<string, true>({ max: KNOWN, ttl: WARN_MS })
forgetWithPool(() => warned.clear())

function warnOf(address: string, error: Error): void {
  if (warned.has(address)) return
  warned.set(address, true)
  log().warn({ address, error: String(error) }, 'another machine did not answer')
}

/** The handler has already parsed the other bodies. */
const contentOf = (body: unknown): Buffer | string =>
  Buffer.isBuffer(body) ? body : body === undefined || body === null ? '' : JSON.stringify(body)

/** Until then, another machine can still get the request. */
function whenConnected(asked: ClientRequest, then: () => void): void {
  asked.once('socket', socket => {
    if (socket.connecting) socket.once(socket.listenerCount('secureConnect') > 0 ? 'secureConnect' : 'connect', then)
    else then()
  })
}

function headersFor(headers: IncomingHttpHeaders, content: Buffer | string | undefined): IncomingHttpHeaders {
  const { [PASSED_ON]: _, ...rest } = kept(headers)
  if (content === undefined) return rest
  const { 'content-length': __, 'content-type': ___, ...without } = rest
  if (content === '') return without
  return { ...without, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) }
}

const kept = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)))
