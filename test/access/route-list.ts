// Lists the routes of a built application. It reads them from the router, because a client can reach only what the
// router lists.
import type { FastifyInstance } from 'fastify'

export interface Route {
  readonly method: string
  readonly path: string
}

/** Returns every method and path. The router prints its tree of path segments, four characters deeper at each level. */
export function routesOf(app: FastifyInstance): Route[] {
  const prefixes: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap(line => {
      const found = /^([│ ├└─]*)(.*?) \(([A-Z, ]+)\)$/.exec(line)
      if (!found) return []
      const [, indent = '', segment = '', methods = ''] = found
      const depth = indent.length / 4
      const path = `${prefixes[depth - 1] ?? ''}${segment}`
      prefixes[depth] = path
      return methods.split(', ').map(method => ({ method, path }))
    })
}
