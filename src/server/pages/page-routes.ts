// What all pages have in common: who the visitor is, which forms are accepted, and how failures are shown.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { may } from '../../access/authorize.js'
import { MissingRef } from '../../areas/code/browsing/ref-paths.js'
import { acceptForm, forgetForm } from '../../areas/ground/forms/sent-forms.js'
import { isOldPath } from '../../areas/projects/projects/projects.queries.js'
import { Failure, Forbidden, SecondFactorDue, TooManyRequests, Unauthorized } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { providers } from '../../oidc/provider.js'
import { passOnAfter } from '../pass-on.js'
import { SESSION_COOKIE } from '../plugins/authenticate.js'
import { answerTo } from '../plugins/errors.js'
import { sendMissing, wantsPage } from './missing.js'
import { openForm } from './open-form.js'
import { type Page, sendPage } from './page.js'
import { placeOf, projectPath } from './place.js'
import { isOtherOrigin, sameOrigin } from './same-origin.js'
import { textsIn, unsentOf } from './unsent.js'
import { formIdOf, formTokenOf, isOwnForm } from './visitor.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the form that this request sends, once it is accepted. */
    acceptedForm: Buffer | null
  }
}

export const SIGN_IN = '/users/sign_in'
/** Where people set up their second factor. */
export const SET_UP = '/profile/two_factor'

/**
 * Prepares `app` for pages. Its routes find their visitor by the session cookie, and their project or group as routes of the API do:
 * `/:namespace/:project` and `/groups/:id`. Forms must come from one of our pages. Failures are shown as a page. A reader who may
 * not see a record gets the same page as for a record that does not exist.
 */
export function servePages(app: FastifyInstance): void {
  app.decorateRequest('acceptedForm', null)
  app.addHook('onRoute', route => {
    route.config = { ...route.config, page: true }
    route.schema = { ...route.schema, ...withPlace(route.url, route.schema), hide: true } as object
  })
  app.addHook('preValidation', async (request, reply) => {
    dropEmptyFields(request)
    if (reads(request)) return undefined
    const cookie = request.cookies[SESSION_COOKIE]
    // The fields of a form with a file arrive later, so the browser has to say which page sends it.
    if (request.routeOptions.config.takesFile && sameOrigin(request)) return undefined
    if (isOwnForm(request, cookie)) return acceptOnce(request, reply)
    // The visitor signed in again since the page was opened: what they wrote must not be lost.
    if (request.actor.user && cookie && !isFromElsewhere(request)) return askAgain(request, reply)
    throw new Forbidden('Open the page again, and send the form from there')
  })
  // A form that changed nothing may be sent again.
  app.addHook('onSend', async (request, reply) => {
    if (request.acceptedForm && reply.statusCode >= 400) await forgetForm(request.acceptedForm)
  })
  app.addHook('preHandler', async (request, reply) => redirectOldPath(request, reply))
  app.setErrorHandler((error, request, reply) => showFailure(error, request, reply))
}

const PLACES = ['namespace', 'project', 'id']

/** The validation drops parameters that a schema does not name: adds those of the place, so that pages name only their own. */
function withPlace(url: string, schema: RouteOptions['schema']): { readonly params?: object } {
  const params = schema?.params as { readonly properties: object } | undefined
  if (params === undefined) return {}
  const place = PLACES.filter(name => url.split('/').includes(`:${name}`)).map(name => [name, PLACE])
  return { params: { ...params, properties: { ...Object.fromEntries(place), ...params.properties } } }
}

const PLACE = Type.String()

/** Sends a page of the visitor, with the menu of its project or group. */
export function show(request: FastifyRequest, reply: FastifyReply, name: string, page: Page): Promise<FastifyReply> {
  const { user } = request.actor
  return sendPage(reply, name, {
    visitor: user ?? undefined,
    formToken: formToken(request),
    place: placeOf(request),
    factorDueAt: request.actor.factorDueAt,
    here: request.url,
    ...page
  })
}

/** The token for the forms of a page, if the visitor has signed in. */
export function formToken({ actor, cookies }: FastifyRequest): string | undefined {
  const cookie = cookies[SESSION_COOKIE]
  return actor.user && cookie ? formTokenOf(cookie) : undefined
}

/** The sign-in page, with the path to return to. */
export const signInFor = (request: FastifyRequest): string =>
  reads(request) ? `${SIGN_IN}?${new URLSearchParams({ return_to: request.url })}` : SIGN_IN

const reads = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

const isFromElsewhere = (request: FastifyRequest): boolean =>
  isOtherOrigin(request) || ![undefined, 'same-origin'].includes(request.headers['sec-fetch-site'] as undefined)

/**
 * Removes fields that the user left empty, so that they count as not given; `keeps_empty` of a form names those that stay. Browsers
 * end the lines of every text with CRLF, which nobody has typed.
 */
function dropEmptyFields(request: FastifyRequest): void {
  const { keeps_empty: kept } = (request.body ?? {}) as { keeps_empty?: unknown }
  const names = typeof kept === 'string' ? kept.split(' ') : []
  const filled = (values: object) =>
    Object.fromEntries(
      Object.entries(values)
        .filter(([name, value]) => value !== '' || names.includes(name))
        .map(([name, value]) => [name, typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value])
    )
  if (typeof request.body === 'object' && request.body !== null) request.body = filled(request.body)
  if (typeof request.query === 'object' && request.query !== null) request.query = filled(request.query)
}

/** Leads the second click on a button to the page that shows the effect of the first one. */
async function acceptOnce(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const id = formIdOf(request)
  if (!(await acceptForm(id))) return reply.redirect(backOf(request), 303)
  request.acceptedForm = id
  return undefined
}

/** Sends a reader of an old path to the current one. A form must not lose its body, so it is accepted at both. */
async function redirectOldPath(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { namespace, project } = request.params as { namespace?: string; project?: string }
  if (!request.project || !reads(request) || namespace === undefined || project === undefined) return undefined
  if (!isOldPath(`${namespace}/${project}`, request.project)) return undefined
  const rest = request.url.split(/(?=[/?])/).slice(2)
  const { namespace_path, path } = request.project
  return reply.redirect([`/${namespace_path}/${path}`, ...rest].join(''), 302)
}

/** Shows the form with what was written and a new token, for a visitor whose page is from an earlier session. */
const askAgain = (request: FastifyRequest, reply: FastifyReply) =>
  show(request, reply.code(409), 'unsent', { title: 'Send this again?', unsent: unsentOf(request) })

/** Shows a failure of a page. A form whose visitor has been signed out can be sent again after signing in. */
export async function showFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (await passOnAfter(error, request, reply)) return reply
  // Another site must not put words into the form that its visitor is asked to send.
  if (error instanceof Unauthorized && !reads(request) && !isFromElsewhere(request)) {
    return sendPage(reply.code(401), 'sign-in-again', {
      title: 'Sign in to send this',
      formToken: openForm(request, reply),
      returnTo: backOf(request),
      unsent: JSON.stringify(unsentOf(request)),
      kept: unsentOf(request),
      providers: providers()
    })
  }
  if (error instanceof SecondFactorDue && wantsPage(request)) return reply.redirect(SET_UP, 303)
  // Links to branches remain after a merge has removed them.
  if (error instanceof MissingRef && wantsPage(request)) return showMissingRef(error, request, reply)
  const { status } = answerTo(error, request)
  if (reads(request) && ([401, 403, 404].includes(status) || isWrongPath(error))) {
    // People open the address of a clone, too. Browsers read a backslash as a slash.
    const [, project] = /^(\/[^/?\\]+\/[^/?\\]+)\.git\/?$/.exec(request.url) ?? []
    return project === undefined ? sendMissing(request, reply) : reply.redirect(project)
  }
  if (status === 304) return reply.code(304).send()
  const { user } = request.actor ?? {}
  return showProblem(error, request, reply, user || reads(request) ? backOf(request) : SIGN_IN)
}

const showMissingRef = ({ asked }: MissingRef, request: FastifyRequest, reply: FastifyReply) =>
  show(request, reply.code(404), 'code/missing-ref', {
    title: 'There is no such branch or tag',
    asked,
    base: projectPath(request.project),
    may: {
      branches: may(request.actor, 'branch.read', request.project),
      commits: may(request.actor, 'commit.read', request.project)
    }
  })

/** Fastify says which part of a request its schema refuses. */
const isWrongPath = (error: unknown): boolean =>
  error instanceof Error && 'validationContext' in error && error.validationContext === 'params'

/** The page that the visitor came from, if it is one of ours. */
export function backOf({ headers, url }: FastifyRequest): string {
  const { referer } = headers
  if (referer !== undefined && URL.canParse(referer)) {
    const from = new URL(referer)
    if (from.host === headers.host) return ownPath(from.pathname) + from.search
  }
  return ownPath(url)
    .split(/(?=[/?#])/, 2)
    .join('')
}

/** Two slashes at the beginning would be another host, and browsers read a backslash as a slash. */
const ownPath = (path: string): string => path.replace(/^[/\\]+/, '/')

/** Shows a failure as a page, with a link back to `back`. */
export async function showProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  back = '/profile'
): Promise<FastifyReply> {
  const { status, retryAfter } = answerTo(error, request)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const text = error instanceof Forbidden && error.reason ? error.reason : messageOf(error)
  const { actor } = request as { actor?: FastifyRequest['actor'] }
  const cookie = request.cookies[SESSION_COOKIE]
  return sendPage(reply.code(status), 'problem', {
    title: 'This did not work',
    problem: text,
    back,
    // What cannot be saved any more is not lost.
    written: request.acceptedForm ? textsIn(request) : [],
    visitor: actor?.user ?? undefined,
    formToken: cookie && formTokenOf(cookie)
  })
}

/** Returns the words for people about a failure. */
export function messageOf(error: unknown): string {
  if (error instanceof TooManyRequests) return `Too many attempts: try again in ${waitOf(error.retryAfter)}.`
  return error instanceof Failure ? error.message : 'Something went wrong: try again later'
}

const waitOf = (seconds: number): string =>
  seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : seconds > 1 ? `${seconds} seconds` : 'a second'
