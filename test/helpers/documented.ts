// Checks the answers in tests against the OpenAPI document: the status, the headers of a list, and the body of a failure.
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'

interface Document {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
}

interface Operation {
  readonly responses: { readonly [status: string]: { readonly $ref?: string; readonly headers?: object } }
}

/** The statuses that any operation may return: the page that describes the API lists them once. */
const ANYWHERE = new Set([429, 500, 503, 507])

/** Checks the answers of one application, and throws for an answer that its document does not describe. */
export function documentedAnswers(app: FastifyInstance) {
  let check: ((request: Request, answer: LightMyRequestResponse) => void) | undefined
  return (request: Request, answer: LightMyRequestResponse) => {
    if (!request.url.startsWith('/api/v3/')) return
    // Only at the first request: many tests never send one.
    check ??= checkOf(app.swagger() as unknown as Document)
    check(request, answer)
  }
}

interface Request {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: unknown }
  readonly payload?: unknown
}

function checkOf(document: Document) {
  const find = finderOf(document)
  const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema({ ...document, $id: 'api' })
  const bodies = new Map<string, ValidateFunction>()
  return (
    { method, url, headers, payload }: Request,
    { statusCode, headers: { 'content-type': type, 'x-page': page }, body }: LightMyRequestResponse
  ) => {
    const operation = find(method, url)
    // Acting as another user fails in the same way everywhere, so no operation lists it.
    const named = `${url} ${Object.keys(headers)} ${typeof payload === 'string' ? payload : ''}`
    if (!operation || ANYWHERE.has(statusCode) || /sudo/i.test(named)) return
    const response = operation.responses[statusCode]
    if (!response)
      throw new Error(`the document does not describe that ${method} ${url} answers ${statusCode}: ${body}`)
    if (statusCode !== 304 && Object.hasOwn(response.headers ?? {}, 'X-Page') !== (page !== undefined))
      throw new Error(`${method} ${url} needs both, or neither: Paging in its schema, and reply.page in its handler`)
    if (!response.$ref || !String(type).startsWith('application/json')) return
    const ref = `api${response.$ref}/content/application~1json/schema`
    const fits = bodies.get(ref) ?? ajv.compile({ $ref: ref })
    bodies.set(ref, fits)
    if (!fits(JSON.parse(body))) throw new Error(`${method} ${url} answers ${statusCode} unlike the document: ${body}`)
  }
}

/** Finds the operation of a URL: of several paths that match, the one with the fewest parameters. */
function finderOf({ paths }: Document) {
  const parameters = (path: string) => path.split('{').length
  const patterns = Object.keys(paths)
    .sort((a, b) => parameters(a) - parameters(b))
    .map(path => ({ path, pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`) }))
  return (method: string, url: string): Operation | undefined => {
    const [asked = ''] = url.split('?', 1)
    const verb = method.toLowerCase()
    const found = patterns.find(({ path, pattern }) => paths[path]?.[verb] && pattern.test(asked))
    return found && paths[found.path]?.[verb]
  }
}
