// The configuration of the routes of an application, such as their actions. Fastify exposes it only while it adds them.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'

const routes = new WeakMap<FastifyInstance, RouteOptions[]>()

/** Fastify announces a new application here, before it has routes. */
const CHANNEL = 'fastify.initialization'

/** Builds an application, and remembers its routes. */
export async function rememberRoutes(build: () => Promise<FastifyInstance>): Promise<FastifyInstance> {
  const found: RouteOptions[] = []
  const remember = (message: unknown) =>
    void (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', route => void found.push(route))
  subscribe(CHANNEL, remember)
  try {
    const app = await build()
    routes.set(app, found)
    return app
  } finally {
    unsubscribe(CHANNEL, remember)
  }
}

/** The configuration of `METHOD /path`, such as its action. */
export function configOf(app: FastifyInstance, route: string): FastifyContextConfig {
  const [method = '', path = ''] = route.split(' ')
  const found = routes.get(app)?.find(route => [route.method].flat().includes(method) && isListedAs(route.url, path))
  if (!found) throw new Error(`the application has no ${route}`)
  return found.config ?? {}
}

/** The paths of the pages for people that a method has. */
export const pagesOf = (app: FastifyInstance, method: string): string[] =>
  (routes.get(app) ?? [])
    .filter(route => [route.method].flat().includes(method) && route.config?.page)
    .map(({ url }) => url)

/** The router lists `/docs/static/*` as `/docs*`. */
const isListedAs = (url: string, path: string) =>
  url === path || (path.endsWith('*') && url.endsWith('*') && url.startsWith(path.slice(0, -1)))
