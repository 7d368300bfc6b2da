// Every way in which a client may write its parameters ends in one typed object: query, form, multipart or JSON.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { BadParameters, BadRequest, TooLarge } from '../../errors.js'
import type { InputSchema } from '../../lib/coerce.js'
import { addPair, type Form, parseForm } from '../../lib/form.js'
import { validator, type Wrong } from '../../lib/validate.js'

/** Parameters that carry no file: the fields of a multipart form are read whole, within these limits. */
const FIELDS = { fieldSize: 16_777_216, fields: 200, files: 0, parts: 200 }

export async function readInput(app: FastifyInstance): Promise<void> {
  app.setValidatorCompiler(compile as FastifySchemaCompiler<unknown>)
  app.removeContentTypeParser(['application/json', 'text/plain'])
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? {} : JSON.parse(text as string))
    } catch {
      done(new BadRequest('400 (Bad request) the body is not valid JSON'))
    }
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, text, done) =>
    done(null, parseForm(text as string))
  )
  await app.register(multipart, { limits: FIELDS })
  // Not specified: a body of another type says nothing that a parameter could be read from.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined))
  app.addHook('preValidation', gatherInput)
}

/** Not a promise where there is nothing to wait for: every request comes by. */
function gatherInput(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  if (!request.isMultipart()) {
    mergeInput(request)
    done()
    return
  }
  readFields(request).then(form => {
    request.body = form
    mergeInput(request)
    done()
  }, done)
}

/** The fields of a multipart form, as those of any other form. */
async function readFields(request: FastifyRequest): Promise<Form> {
  const form: Form = Object.create(null) as Form
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'field') continue
      if (part.valueTruncated) throw new TooLarge()
      addPair(form, part.fieldname, String(part.value))
    }
  } catch (error) {
    // What the parser finds wrong with the bytes has no status of its own.
    if (error instanceof TooLarge || (error instanceof Error && 'statusCode' in error)) throw error
    throw new BadRequest('400 (Bad request) the body is not valid multipart')
  }
  return form
}

/** A POST's parameters may stand in its query, a DELETE's in its body. */
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

function compile({ schema }: { schema: InputSchema }) {
  const validate = validator(schema)
  return (input: unknown) => {
    const found = validate(input ?? {})
    return found.wrong ? { error: describe(found.wrong) } : { value: found.value }
  }
}

/** The requirement's texts ("Error conventions"): missing ones first and together, then the first of another kind. */
function describe({ missing, name, problem }: Wrong): BadParameters {
  const [first] = missing
  if (first === undefined) return new BadParameters(`${name || 'the input'} ${problem}`)
  if (missing.length === 1) return BadParameters.missing(first)
  return new BadParameters(
    missing.map(name => `${name} is missing`).join(', '),
    `400 (Bad request) ${missing.map(name => `"${name}"`).join(', ')} not given`
  )
}
