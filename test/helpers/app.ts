// The entry point for API tests: the production application, users who send requests, and a factory that makes missing parents.
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { config } from '../../src/config.js'
import { buildApp } from '../../src/server/app.js'
import { testDatabase } from './database.js'
import { documentedAnswers } from './documented.js'
import { factory, type TestUser } from './factory.js'
import { runJobs } from './jobs.js'
import { rememberRoutes } from './route-configs.js'

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

/** The application, on this file's database. */
export async function testApp(t: Test): Promise<TestApp> {
  await testDatabase()
  const built = await theApp()
  built.uses += 1
  t.teardown(() => release(built))
  const { fastify, check } = built
  const ask = async (options: InjectOptions & Asked) => {
    const answer = await fastify.inject(options)
    check(options, answer)
    return answer
  }
  return {
    fastify,
    make: factory,
    as: (user, headers = {}) => asker(ask, { 'private-token': user.privateToken, ...headers }),
    nobody: asker(ask, {}),
    runJobs
  }
}

interface Built {
  readonly settings: string
  readonly fastify: FastifyInstance
  readonly check: ReturnType<typeof documentedAnswers>
  uses: number
}

let last: Built | undefined

/** Tests share an application, which takes 0.3 s to build, while the configuration is the same except for its home. */
async function theApp(): Promise<Built> {
  const settings = JSON.stringify({ ...config(), home: null, database: null })
  if (last?.settings === settings) return last
  const fastify = await rememberRoutes(buildApp)
  await fastify.ready()
  const built = { settings, fastify, check: documentedAnswers(fastify), uses: 0 }
  if (last?.uses === 0) await last.fastify.close()
  last = built
  return built
}

/** An application that has listened closes for good. */
async function release(built: Built): Promise<void> {
  built.uses -= 1
  if (built.uses > 0 || (built === last && !built.fastify.server.listening)) return
  if (built === last) last = undefined
  await built.fastify.close()
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
}

function asker(
  ask: (options: InjectOptions & Asked) => Promise<LightMyRequestResponse>,
  headers: Record<string, string>
): Asker {
  const inject = (options: InjectOptions) =>
    ask({
      ...options,
      method: options.method ?? 'GET',
      url: String(options.url),
      headers: { ...headers, ...(options.headers as Record<string, string>) }
    })
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
