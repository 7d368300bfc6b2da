// Describes one route for clients. The route declares its summary and schemas. The callers that are allowed, the possible
// failures and the name in a generated client are derived from what the server enforces.
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { abilities } from '../../access/abilities.js'
import { credentialsFor, mayForbid, whoMay } from '../../access/words.js'
import { Paging } from '../../lib/schema.js'
import { security } from './about.js'
import type { ErrorStatus } from './answers.js'
import { operationIdOf } from './operation-id.js'

declare module 'fastify' {
  interface FastifySchema {
    /** Failures that cannot be derived from the route: for example 409 where the rule throws Conflict. */
    readonly errors?: readonly ErrorStatus[]
  }
}

interface Route {
  readonly method: string
  /** The path below the prefix of the API. */
  readonly path: string
  readonly config: FastifyContextConfig
  readonly schema: FastifySchema
}

/** Facts that only the server knows about an operation; document.ts removes them again. */
export interface Facts {
  readonly failures: readonly ErrorStatus[]
  /** Whether it is a list in pages, with their headers: one with the parameters of `Paging`. */
  readonly paged: boolean
}

/** Returns the schema of the route with everything that the document says about it. */
export function describeOperation(route: Route): FastifySchema & { 'x-facts': Facts } {
  const { method, path, config, schema } = route
  const ability = config.can && abilities[config.can]
  const { properties = {} } = (schema.querystring ?? {}) as { properties?: { readonly per_page?: unknown } }
  const results = Object.values((schema.response ?? {}) as { [status: string]: { type?: string } })
  const list = method === 'GET' && results.some(({ type }) => type === 'array')
  const access = ability ? whoMay(ability) : 'For everybody; credentials are ignored.'
  return {
    ...schema,
    operationId: schema.operationId ?? operationIdOf({ method, path, list }),
    description: [schema.description, access].filter(Boolean).join('\n\n'),
    ...(ability ? credentialsFor(ability) === 'optional' && { security: [{}, ...security] } : { security: [] }),
    'x-facts': { failures: failuresOf(route), paged: properties.per_page === Paging.per_page }
  }
}

function failuresOf({ method, path, config, schema }: Route): ErrorStatus[] {
  const found = new Set<ErrorStatus>(schema.errors)
  // All JSON has a version (plugins/versions.ts).
  const { 200: result } = (schema.response ?? {}) as { 200?: object }
  if (method === 'GET' && result && !('content' in result)) found.add(304)
  if (schema.body || schema.querystring || schema.params) found.add(400)
  if (schema.body) found.add(413).add(415)
  if (path.includes(':')) found.add(404).add(414)
  const ability = config.can && abilities[config.can]
  if (ability) found.add(401)
  if (ability && mayForbid(ability)) found.add(403)
  return [...found].sort()
}
