// Distinguishes a path that exists with another method from a path that does not exist. It runs only after no route has matched.
import type { FastifyInstance, FastifyRequest } from 'fastify'

interface Path {
  readonly pattern: RegExp
  /** How many of its parts may be any text. */
  readonly open: number
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
    const open = url.match(/[:*]/g)?.length ?? 0
    const path = known.get(url) ?? { pattern: new RegExp(`^${pattern}$`), open, methods: new Set() }
    for (const name of [method].flat()) path.methods.add(name)
    known.set(url, path)
  })
}

/** Returns the methods of the path of the request, sorted; an empty list when no route has the path. */
export function methodsOf(app: FastifyInstance, request: FastifyRequest): string[] {
  const known = [...(paths.get(app)?.values() ?? [])]
  // `branches/x/protect` was rewritten: it is the branch `x/protect` for GET, and protects `x` for PUT.
  const asked = [request.url, request.originalUrl].map(url => (url.split('?', 1)[0] ?? '').replace(/(?<=.)\/$/, ''))
  const methods = asked.flatMap(path => closest(known.filter(({ pattern }) => pattern.test(path))))
  return [...new Set(methods)].sort()
}

/** The path `/groups/owned` is a list. It also looks like `/groups/:id`, but no group has this name, so PUT would find nothing. */
function closest(found: readonly Path[]): string[] {
  const least = Math.min(...found.map(({ open }) => open))
  return found.filter(({ open }) => open === least).flatMap(({ methods }) => [...methods])
}
