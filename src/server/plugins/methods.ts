// Distinguishes a path that exists with another method from a path that does not exist. It runs only after no route has matched.
import type { FastifyInstance, FastifyRequest } from 'fastify'

interface Path {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

const paths = new WeakMap<FastifyInstance, Map<string, Path>>()

/** Remembers the path and the methods of every route when it is registered. */
export function rememberPaths(app: FastifyInstance): void {
  const known = new Map<string, Path>()
  paths.set(app, known)
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = url
      .split('/')
      .map(part => (part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace('\\*', '.*')))
      .join('/')
    const path = known.get(url) ?? { pattern: new RegExp(`^${pattern}$`), methods: new Set() }
    for (const name of [method].flat()) path.methods.add(name)
    known.set(url, path)
  })
}

/** Returns the methods of the path of the request, sorted; an empty list when no route has the path. */
export function methodsOf(app: FastifyInstance, request: FastifyRequest): string[] {
  // `branches/x/protect` was rewritten: it is the branch `x/protect` for GET, and protects `x` for PUT.
  const asked = [request.url, request.originalUrl].map(url => url.split('?', 1)[0] ?? '')
  const found = [...(paths.get(app)?.values() ?? [])].filter(({ pattern }) => asked.some(path => pattern.test(path)))
  return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort()
}
