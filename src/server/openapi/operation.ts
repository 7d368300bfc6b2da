// What a client reads of one route. The route gives its summary and schemas; who may call it, how it can fail and what it
// is called in a generated client come from what the server does with it anyway.
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { abilities } from '../../access/abilities.js'
import { credentialsFor, mayForbid, whoMay } from '../../access/words.js'
import { security } from './about.js'
import { type ErrorStatus, pageHeaders } from './answers.js'
import { operationIdOf } from './operation-id.js'

declare module 'fastify' {
  interface FastifySchema {
    /** Failures that the other facts about the route do not give: 409 where the rule throws Conflict. */
    readonly errors?: readonly ErrorStatus[]
  }
}

interface Route {
  readonly method: string
  /** Below the prefix of the API. */
  readonly path: string
  readonly config: FastifyContextConfig
  readonly schema: FastifySchema
}

/** The schema of the route with all that the document tells of it. */
export function describeOperation({ method, path, config, schema }: Route): FastifySchema {
  const ability = config.can && abilities[config.can]
  const list = Object.values(responsesOf(schema)).some(({ type }) => type === 'array')
  const access = ability ? whoMay(ability) : 'Everybody may; credentials are not looked at.'
  return {
    ...schema,
    operationId: schema.operationId ?? operationIdOf({ method, path, list }),
    description: [schema.description, access].filter(Boolean).join('\n\n'),
    ...(ability ? credentialsFor(ability) === 'optional' && { security: [{}, ...security] } : { security: [] }),
    response: {
      ...describeResults(schema),
      ...Object.fromEntries(failuresOf({ method, path, config, schema }).map(status => [status, { type: 'null' }]))
    }
  }
}

interface Response {
  readonly type?: string
}

const responsesOf = ({ response }: FastifySchema) => (response ?? {}) as { readonly [status: string]: Response }

/** A list in pages is one that takes their number. */
function describeResults(schema: FastifySchema) {
  const { properties = {} } = (schema.querystring ?? {}) as { properties?: object }
  const paged = 'per_page' in properties
  const list = { 'x-response-description': paged ? 'A page of the list.' : 'The whole list.' }
  const describe = (response: Response) => ({
    ...response,
    ...(response.type === 'array' && list),
    ...(paged && { headers: pageHeaders })
  })
  return Object.fromEntries(Object.entries(responsesOf(schema)).map(([status, it]) => [status, describe(it)]))
}

function failuresOf({ path, config, schema }: Route): ErrorStatus[] {
  const found = new Set<ErrorStatus>(schema.errors)
  if (schema.body || schema.querystring) found.add(400)
  if (schema.body) found.add(413)
  if (path.includes(':')) found.add(404)
  if ('rateLimit' in config) found.add(429)
  const ability = config.can && abilities[config.can]
  if (ability) found.add(401)
  if (ability && mayForbid(ability)) found.add(403)
  return [...found].sort()
}
