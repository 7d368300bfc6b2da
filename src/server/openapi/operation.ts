// What a client reads of one route. The route gives its summary and schemas; who may call it, how it can fail and what it
// is called in a generated client come from what the server does with it anyway.
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { abilities } from '../../access/abilities.js'
import { credentialsFor, mayForbid, whoMay } from '../../access/words.js'
import { security } from './about.js'
import type { ErrorStatus } from './answers.js'
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

/** What only the server knows of an operation; document.ts takes it out again. */
export interface Facts {
  readonly failures: readonly ErrorStatus[]
  /** Whether it is a list in pages: one that takes their number. */
  readonly paged: boolean
}

/** The schema of the route with all that the document tells of it. */
export function describeOperation(route: Route): FastifySchema & { 'x-facts': Facts } {
  const { method, path, config, schema } = route
  const ability = config.can && abilities[config.can]
  const { properties = {} } = (schema.querystring ?? {}) as { properties?: object }
  const results = Object.values((schema.response ?? {}) as { [status: string]: { type?: string } })
  const list = method === 'GET' && results.some(({ type }) => type === 'array')
  const access = ability ? whoMay(ability) : 'For everybody; credentials are ignored.'
  return {
    ...schema,
    operationId: schema.operationId ?? operationIdOf({ method, path, list }),
    description: [schema.description, access].filter(Boolean).join('\n\n'),
    ...(ability ? credentialsFor(ability) === 'optional' && { security: [{}, ...security] } : { security: [] }),
    'x-facts': { failures: failuresOf(route), paged: 'per_page' in properties }
  }
}

function failuresOf({ path, config, schema }: Route): ErrorStatus[] {
  const found = new Set<ErrorStatus>(schema.errors)
  if (schema.body || schema.querystring || schema.params) found.add(400)
  if (schema.body) found.add(413).add(415)
  if (path.includes(':')) found.add(404)
  const ability = config.can && abilities[config.can]
  if (ability) found.add(401)
  if (ability && mayForbid(ability)) found.add(403)
  return [...found].sort()
}
