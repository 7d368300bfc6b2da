// Refuses requests that write while maintenance mode is on. It checks before anything else is done for such a request;
// reads need no check.
import type { FastifyInstance } from 'fastify'
import { refuseDuringMaintenance } from '../../areas/ground/settings/maintenance-mode.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route works during maintenance although its method is not a read. */
    readonly duringMaintenance?: true
  }
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function refuseWrites(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const { duringMaintenance } = request.routeOptions.config
    // A path that does not exist has no URL here.
    if (READS.has(request.method) || duringMaintenance || request.routeOptions.url === undefined) return done()
    refuseDuringMaintenance().then(() => done(), done)
  })
}
