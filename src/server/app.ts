// The HTTP application, separate from the process that it runs in: tests build the same application.
import cookie from '@fastify/cookie'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { config } from '../config.js'
import { parseForm } from '../lib/form.js'
import { log } from '../log.js'
import { compose } from '../product.js'
import { knowAddresses, trustedProxy } from './client-address.js'
import { gitHttpRoutes } from './git-http.js'
import { healthRoutes } from './health.js'
import { lfsRoutes } from './lfs/routes.js'
import { wantsConnection } from './machine-requests.js'
import { measureRequests } from './metrics.js'
import { assetRoutes } from './pages/assets.js'
import { authorizeRoutes } from './pages/authorize.js'
import { providerSignIn } from './pages/identity/provider-sign-in.js'
import { invitationRoutes } from './pages/invitations.js'
import { oauthTokenRoutes } from './pages/oauth-tokens.js'
import { passwordRoutes } from './pages/passwords.js'
import { firstAdministratorRoutes } from './pages/people/first-administrator.js'
import { pageRoutes } from './pages/routes.js'
import { secondStepRoutes } from './pages/second-step.js'
import { signInRoutes } from './pages/sign-in.js'
import { signUpRoutes } from './pages/sign-up.js'
import { unsubscribeRoutes } from './pages/unsubscribe.js'
import { passOnRequests } from './pass-on.js'
import { guardRoutes } from './plugins/access.js'
import { authenticate, authenticateByBody } from './plugins/authenticate.js'
import { BODY_LIMIT, boundRequests, CHECK_MS, endBadConnection, HEADERS_MS } from './plugins/bounds.js'
import { compressAnswers } from './plugins/compress.js'
import { allowOrigins } from './plugins/cross-origin.js'
import { answerBadUrl, answerErrors } from './plugins/errors.js'
import { compileInput, readInput } from './plugins/input.js'
import { keepAnswers } from './plugins/kept-answers.js'
import { refuseWrites } from './plugins/maintenance-mode.js'
import { rememberPaths } from './plugins/methods.js'
import { readFromReplica } from './plugins/old-reads.js'
import { documentApi } from './plugins/openapi.js'
import { answerPages } from './plugins/paging.js'
import { logRequests, requestId } from './plugins/request-log.js'
import { lateCompilers } from './plugins/serializers.js'
import { answerVersions } from './plugins/versions.js'
import { apiRoutes, directoryRoutes, fileRoutes, runnerProtocolRoutes } from './routes.js'

const API_PREFIX = '/api/v3'

/** Builds the whole application, ready to listen or to get injected requests. */
export async function buildApp(): Promise<FastifyInstance> {
  compose()
  const app = Fastify({
    loggerInstance: log() as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxy(),
    bodyLimit: BODY_LIMIT,
    clientErrorHandler: endBadConnection,
    http: {
      requireHostHeader: false,
      shouldUpgradeCallback: wantsConnection,
      connectionsCheckingInterval: CHECK_MS,
      headersTimeout: Math.min(HEADERS_MS, config().http.body_timeout * 1000)
    },
    requestTimeout: config().http.body_timeout * 1000,
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: true, querystringParser: parseForm },
    frameworkErrors: answerBadUrl,
    rewriteUrl: request => withWholeNames(withoutSuffix(withSingleSlashes(request.url ?? '/')), request.method),
    // One logger for all requests: a child logger for each request took as long as finding its route.
    childLoggerFactory: logger => logger,
    genReqId: requestId,
    schemaController: lateCompilers(compileInput),
    forceCloseConnections: 'idle',
    // The server still answers requests that arrive while it stops, with our own bodies: the database stops after the server.
    return503OnClosing: false
  }).withTypeProvider<TypeBoxTypeProvider>()
  knowAddresses(app)
  measureRequests(app)
  logRequests(app)
  answerErrors(app)
  await allowOrigins(app)
  rememberPaths(app)
  boundRequests(app)
  answerPages(app)
  answerVersions(app)
  keepAnswers(app)
  compressAnswers(app)
  await app.register(cookie)
  refuseWrites(app)
  passOnRequests(app)
  // In this order: a request is authenticated before its route is opened.
  authenticate(app)
  guardRoutes(app)
  readFromReplica(app)
  await documentApi(app)
  // Hooks that run on every request and wait for nothing are not async functions, because promises are expensive with
  // AsyncLocalStorage.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.header('x-content-type-options', 'nosniff')
    done()
  })
  await app.register(async api => {
    await readInput(api)
    authenticateByBody(api)
    await api.register(apiRoutes, { prefix: API_PREFIX })
    await api.register(fileRoutes)
    await api.register(runnerProtocolRoutes)
    await api.register(directoryRoutes)
    await api.register(assetRoutes)
    await api.register(pageRoutes)
    await api.register(signInRoutes)
    await api.register(secondStepRoutes)
    await api.register(providerSignIn)
    await api.register(signUpRoutes)
    await api.register(firstAdministratorRoutes)
    await api.register(invitationRoutes)
    await api.register(passwordRoutes)
    await api.register(unsubscribeRoutes)
    await api.register(authorizeRoutes)
    await api.register(oauthTokenRoutes)
  })
  await app.register(healthRoutes)
  await app.register(gitHttpRoutes)
  await app.register(lfsRoutes)
  app.log.debug({ home: config().home }, 'application built')
  return app as unknown as FastifyInstance
}

/** Replaces several slashes in a path with one: clients join `http://host/` and `/api/v3`, or `/issues/` and `/5`. */
function withSingleSlashes(url: string): string {
  if (!url.includes('//')) return url
  const [path = ''] = url.split('?', 1)
  return path.replace(/\/{2,}/g, '/') + url.slice(path.length)
}

/** Removes `.json` at the end of an API path, because it has no meaning there ("General behaviour"). Runners 1.x send it too. */
function withoutSuffix(url: string): string {
  if (!url.includes('.json') || !(url.startsWith(API_PREFIX) || url.startsWith('/ci/api/v1/'))) return url
  const [path = ''] = url.split('?', 1)
  const bare = path.replace(/\.json\/?$/, '')
  return bare === `${API_PREFIX}/openapi` ? url : bare + url.slice(path.length)
}

const NAMED =
  /^(\/api\/v3\/projects\/[^/]+\/repository\/(?:branches|tags)\/)([^?]+?)(\/(?:protect|unprotect|release))?\/?(\?.*)?$/

/**
 * Escapes the slashes in the name of a branch or a tag, which clients may leave unescaped ("Branches and tags"). Otherwise
 * the router would split the name at each slash.
 */
function withWholeNames(url: string, method: string | undefined): string {
  if (!url.includes('/repository/')) return url
  const found = NAMED.exec(url)
  if (!found) return url
  const [, start = '', name = '', verb = '', query = ''] = found
  // Only a PUT or POST has a verb after the name: other methods address the branch `x/protect` by its name.
  const whole = method === 'PUT' || method === 'POST' ? name : name + verb
  if (!whole.includes('/')) return url
  const rest = whole === name ? verb : ''
  return `${start}${whole.replaceAll('/', '%2F')}${rest}${query}`
}
