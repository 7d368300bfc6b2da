// Refuses requests that write while maintenance mode is on. It checks before anything else is done for such a request;
// reads need no check. The statement that finds a private or personal token checks it, too: its requests have no check here.
import type { FastifyInstance, FastifyRequest } from 'fastify'
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
    if (checksWithToken(request)) return done()
    refuseDuringMaintenance().then(() => done(), done)
  })
}

/** Whether the request writes, and has a token whose statement checks the mode. */
export const checksWithToken = ({ method, headers, routeOptions: { config } }: FastifyRequest): boolean =>
  typeof headers['private-token'] === 'string' &&
  !READS.has(method) &&
  config.can !== undefined &&
  !config.public &&
  !config.duringMaintenance
