// Distinguishes a path that exists with another method from a path that does not exist. It is used only after no route
// has matched.
import type { FastifyInstance, FastifyRequest } from 'fastify'

const patterns = new WeakMap<FastifyInstance, Map<string, RegExp>>()

/** Remembers the path of every route when it is registered. */
export function rememberPaths(app: FastifyInstance): void {
  const known = new Map<string, RegExp>()
  patterns.set(app, known)
  app.addHook('onRoute', ({ url }) => {
    const pattern = url
      .split('/')
      .map(part => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace('\\*', '.*')))
      .join('/')
    known.set(url, new RegExp(`^${pattern}$`))
  })
}

/** Returns true when some route has the path of the request. */
export function otherMethod(app: FastifyInstance, request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? ''
  for (const pattern of patterns.get(app)?.values() ?? []) if (pattern.test(path)) return true
  return false
}
