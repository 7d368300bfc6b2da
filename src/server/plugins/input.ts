// Collects the parameters of a request into one typed object. Clients may write them as query, form, multipart or JSON.
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BadParameters, BadRequest, Invalid, TooLarge, UnreadableType } from '../../errors.js'
import type { InputSchema } from '../../lib/coerce.js'
import { addPair, type Form, hasMorePairs, parseForm } from '../../lib/form.js'
import { hasMoreValues } from '../../lib/json.js'
import { validator, type Wrong } from '../../lib/validate.js'
import { drain } from '../discard-body.js'
import { sentBodies } from '../sent-bodies.js'
import { cutStalledRequest } from '../stalled-clients.js'
import { bodyLimitOf, tooLarge } from './bounds.js'

/** A form has at most this many fields, and no file. Their bytes count towards the limit of the body. */
const FIELDS = { fields: 200, files: 0, parts: 200 }
/** A JSON body has at most this many values: each takes up to 60 bytes of memory, however short it is written. */
const MOST_VALUES = 100_000
const BYTE_ORDER_MARK = 0xfeff
/** The escape of one half of a surrogate pair: of a character beyond the first 65,536. */
const HALF = /\\u[dD][89a-fA-F]/

/** Credentials among the parameters of a body. */
interface BodyCredentials {
  readonly private_token?: unknown
  readonly access_token?: unknown
  readonly bearer_token?: unknown
  readonly sudo?: unknown
}

const CREDENTIALS: readonly (keyof BodyCredentials)[] = ['private_token', 'access_token', 'bearer_token', 'sudo']

/** A file in a multipart form. */
interface ReceivedFile {
  /** The name that the client sent: it may contain anything. */
  readonly name: string
  readonly stream: Readable
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a form with a file, which the handler takes with `receiveFile`. */
    readonly takesFile?: true
  }
  interface FastifyRequest {
    /** Passes the file `file` of the form to `use`, which reads it to its end or throws. Throws BadParameters when the form has no file. */
    receiveFile<T>(use: (file: ReceivedFile) => Promise<T>): Promise<T>
    /** Null when the body has no credentials. */
    bodyCredentials: BodyCredentials | null
  }
}

/** Installs the parsers, the validation and the collection of parameters for the routes of `app`. */
export async function readInput(app: FastifyInstance): Promise<void> {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser(
    ['application/json', 'application/scim+json'],
    { parseAs: 'buffer' },
    (request, body, done) => done(null, parseJson(textOf(request, body as Buffer)))
  )
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (request, body, done) => {
    sentBodies.set(request, body as Buffer)
    done(null, parseWholeForm(textOf(request, body as Buffer)))
  })
  await app.register(multipart, { limits: FIELDS })
  app.addContentTypeParser('*', (request, _payload, done) => done(null, refuseType(request)))
  app.decorateRequest('bodyCredentials', null)
  app.decorateRequest('receiveFile', function <T>(this: FastifyRequest, use: (file: ReceivedFile) => Promise<T>) {
    return receiveFile(this, use)
  })
  app.addHook('preValidation', gatherInput)
}

/** Refuses encodings other than UTF-8, which would be stored as other characters than the client wrote. */
function textOf(request: FastifyRequest, body: Buffer): string {
  refuseEncoding(request)
  if (!isUtf8(body)) refuseBytes()
  return body.toString()
}

function refuseBytes(): never {
  throw new BadRequest('400 (Bad request) the body is not valid UTF-8')
}

/** Refuses compressed bodies: nothing decompresses a body, so its size is always the size that arrives. */
function refuseEncoding({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') throw UnreadableType.compressed(encoding)
}

/** Half a surrogate pair cannot be stored. It is replaced at once, so that the answer shows what later answers show. */
const wholeCharacters = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? Buffer.from(value).toString() : value

/** Refuses a form with too many fields: a list without its end would be applied only in part. */
function parseWholeForm(text: string): Form {
  if (hasMorePairs(text)) throw new TooLarge('413 Request Entity Too Large - a form has at most 1000 fields')
  return parseForm(text, refuseBytes)
}

function parseJson(text: string): unknown {
  // Some editors and shells write a byte order mark.
  const json = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  if (hasMoreValues(json, MOST_VALUES)) {
    throw new TooLarge(`413 Request Entity Too Large - a body has at most ${MOST_VALUES} values`)
  }
  try {
    return json === '' ? {} : JSON.parse(json, HALF.test(json) ? wholeCharacters : undefined)
  } catch {
    throw new BadRequest('400 (Bad request) the body is not valid JSON')
  }
}

/** Refuses a body whose parameters would otherwise be lost silently. An empty body has no parameters. */
function refuseType({ headers }: FastifyRequest): undefined {
  const length = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? '0' : 'unknown')
  if (length !== '0') throw UnreadableType.of(headers['content-type'])
}

/** Not an async function, because it runs for every request and most requests have nothing to wait for. */
function gatherInput(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  // Not specified: credentials in the fields next to a file. They are not accepted there, because they may come after the file.
  if (request.routeOptions.config.takesFile) {
    done()
    return
  }
  if (!request.isMultipart()) {
    takeCredentials(request)
    mergeInput(request)
    done()
    return
  }
  readFields(request).then(form => {
    request.body = form
    takeCredentials(request)
    mergeInput(request)
    done()
  }, done)
}

/** Reads the fields of a multipart form into the same form as those of any other form. */
async function readFields(request: FastifyRequest): Promise<Form> {
  refuseEncoding(request)
  const form: Form = Object.create(null) as Form
  const limit = bodyLimitOf(request)
  let size = 0
  const isAllUtf8 = watchUtf8(request.raw)
  try {
    for await (const part of request.parts({ limits: { fieldSize: limit } })) {
      if (part.type !== 'field') continue
      const value = String(part.value)
      size += part.fieldname.length + value.length
      // The parser collects at most one field beyond this limit, because it waits for us at each chunk.
      if (part.valueTruncated || size > limit) throw new TooLarge(tooLarge(limit))
      if (hasReplaced(value + part.fieldname) && !isAllUtf8()) refuseBytes()
      addPair(form, part.fieldname, value)
    }
  } catch (error) {
    // The errors of the parser about wrong bytes have no status code.
    if (error instanceof Error && 'code' in error && error.code === 'FST_FILES_LIMIT') {
      throw new BadRequest('400 (Bad request) the form has a file, but this request takes only text fields')
    }
    if (error instanceof TooLarge || error instanceof BadRequest || (error instanceof Error && 'statusCode' in error))
      throw error
    throw new BadRequest('400 (Bad request) the body is not valid multipart')
  }
  return form
}

/** The multipart parser replaces bytes that are not UTF-8 with this character, but a client may also send it. */
const hasReplaced = (text: string) => text.includes('\ufffd')

/** Returns a function that returns whether all bytes that have arrived so far are UTF-8. */
function watchUtf8(body: Readable): () => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isAllUtf8 = true
  body.on('data', (chunk: Buffer) => {
    try {
      if (isAllUtf8) decoder.decode(chunk, { stream: true })
    } catch {
      isAllUtf8 = false
    }
  })
  return () => isAllUtf8
}

/** The bytes of a form in which the name of its file is looked up, if the parser may have replaced bytes in it. */
const START = 65_536

/** Returns a function that returns whether a text is among the first bytes that have arrived. */
function watchStart(body: Readable): (text: string) => boolean {
  const start: Buffer[] = []
  let size = 0
  body.on('data', function keep(chunk: Buffer) {
    start.push(chunk)
    size += chunk.length
    if (size > START) body.off('data', keep)
  })
  return text => Buffer.concat(start).includes(text)
}

/** Other parts of a form with a file are read and thrown away. */
const BESIDE_FILE = { files: 1, fields: 20, parts: 21, fieldSize: 65_536 }

async function receiveFile<T>(request: FastifyRequest, use: (file: ReceivedFile) => Promise<T>): Promise<T> {
  if (!request.isMultipart()) throw BadParameters.missing('file')
  refuseEncoding(request)
  cutStalledRequest(request.raw)
  const hasArrived = watchStart(request.raw)
  let reading = true
  try {
    for await (const part of request.parts({ limits: { ...BESIDE_FILE, fileSize: Number.POSITIVE_INFINITY } })) {
      if (part.type !== 'file') continue
      if (part.fieldname !== 'file') {
        part.file.resume()
        continue
      }
      reading = false
      const name = part.filename ?? ''
      if (hasReplaced(name) && !hasArrived(name)) refuseBytes()
      return await use({ name, stream: part.file })
    }
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error) throw error
    if (reading || isCutOff(error)) throw new BadRequest('400 (Bad request) the body is not valid multipart')
    throw error
  } finally {
    drain(request.raw)
  }
  throw BadParameters.missing('file')
}

/** Whether the body ended in the middle of the file. */
const isCutOff = (error: unknown) =>
  error instanceof Error &&
  ('code' in error ? error.code === 'ERR_STREAM_PREMATURE_CLOSE' : /unexpected end/i.test(error.message))

/** Removes the credentials from the body, so that no route and no log sees them. */
function takeCredentials(request: FastifyRequest): void {
  const body = plain(request.body)
  if (!CREDENTIALS.some(name => name in body)) return
  const { private_token, access_token, bearer_token, sudo, ...rest } = body
  request.body = rest
  request.bodyCredentials = { private_token, access_token, bearer_token, sudo }
}

/** Merges query and body: the parameters of a POST may be in its query, those of a DELETE in its body. */
function mergeInput(request: FastifyRequest): void {
  const { schema } = request.routeOptions
  const body = plain(request.body)
  if (schema?.body) request.body = { ...plain(request.query), ...body }
  else if (schema?.querystring && Object.keys(body).length > 0) {
    request.query = { ...plain(request.query), ...body }
  }
}

function plain(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return value as Record<string, unknown>
}

/** For Fastify: checks the input of a route, and converts it to the types of its schema. */
export function compileInput({ schema, httpPart, url }: { schema: InputSchema; httpPart?: string; url?: string }) {
  const validate = validator(schema)
  // Paths below /repository/ belong to git: the requirement has texts for them, without attributes.
  const writesRecord = httpPart === 'body' && !url?.includes('/repository/')
  return (input: unknown) => {
    const found = validate(input ?? {})
    return found.wrong ? { error: describe(found.wrong, writesRecord) } : { value: found.value }
  }
}

/**
 * Builds the texts of the requirement ("Error conventions"): all missing attributes together, or otherwise the first other
 * problem. A limit on a value in a body is a rule of the record, and gets the answer of such a rule.
 */
function describe({ missing, name, problem, limit }: Wrong, writesRecord: boolean): BadParameters | Invalid {
  const [first] = missing
  if (first === undefined && limit && writesRecord && name !== '') return new Invalid(name, problem)
  if (first === undefined) return new BadParameters(`${name || 'the input'} ${problem}`)
  if (missing.length === 1) return BadParameters.missing(first)
  return new BadParameters(
    missing.map(name => `${name} is missing`).join(', '),
    `400 (Bad request) ${missing.map(name => `"${name}"`).join(', ')} not given`
  )
}
