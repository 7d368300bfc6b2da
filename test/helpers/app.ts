// The entrance for API tests: the production application, users who send requests, and a factory that makes missing
// parents.
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { buildApp } from '../../src/server/app.js'
import { testDatabase } from './database.js'
import { factory, type TestUser } from './factory.js'
import { runJobs } from './jobs.js'

type Query = Record<string, string | number | boolean | (string | number)[]>
type Ask = (path: string, input?: Query) => Promise<LightMyRequestResponse>

export interface Asker {
  get: Ask
  /** POST and PUT send a JSON body, DELETE sends a query. */
  post: (path: string, body?: unknown) => Promise<LightMyRequestResponse>
  put: (path: string, body?: unknown) => Promise<LightMyRequestResponse>
  delete: Ask
  /** For any other request. Unlike the functions above, it takes the whole URL. */
  inject: (options: InjectOptions) => Promise<LightMyRequestResponse>
}

export interface TestApp {
  readonly fastify: FastifyInstance
  readonly make: typeof factory
  /** Sends requests with a user's private token. */
  as(user: TestUser, headers?: Record<string, string>): Asker
  /** Sends requests without credentials. */
  readonly nobody: Asker
  /** Runs all ready jobs and the jobs that they enqueue. */
  runJobs: typeof runJobs
}

interface Test {
  teardown(fn: () => Promise<void>): void
}

/** Builds the application on this file's database. */
export async function testApp(t: Test): Promise<TestApp> {
  await testDatabase()
  const fastify = await buildApp()
  await fastify.ready()
  t.teardown(() => fastify.close())
  return {
    fastify,
    make: factory,
    as: (user, headers = {}) => asker(fastify, { 'private-token': user.privateToken, ...headers }),
    nobody: asker(fastify, {}),
    runJobs
  }
}

function asker(fastify: FastifyInstance, headers: Record<string, string>): Asker {
  const inject = (options: InjectOptions) =>
    fastify.inject({ ...options, headers: { ...headers, ...(options.headers as Record<string, string>) } })
  const url = (path: string) => (path.startsWith('/api/') || path.startsWith('/-/') ? path : `/api/v3${path}`)
  const withQuery = (path: string, query: Query = {}) => {
    const pairs = Object.entries(query).flatMap(([key, value]) =>
      Array.isArray(value)
        ? value.map(item => `${key}[]=${encodeURIComponent(item)}`)
        : [`${key}=${encodeURIComponent(value)}`]
    )
    return pairs.length > 0 ? `${url(path)}?${pairs.join('&')}` : url(path)
  }
  return {
    get: (path, query) => inject({ method: 'GET', url: withQuery(path, query) }),
    delete: (path, query) => inject({ method: 'DELETE', url: withQuery(path, query) }),
    post: (path, body = {}) => inject({ method: 'POST', url: url(path), payload: body as object }),
    put: (path, body = {}) => inject({ method: 'PUT', url: url(path), payload: body as object }),
    inject
  }
}
