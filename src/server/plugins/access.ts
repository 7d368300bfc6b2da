// Every route says what it lets whom do, or the server does not start. Routes about a project find it loaded.
import type { FastifyInstance, RouteOptions } from 'fastify'
import { type Action, abilities } from '../../access/abilities.js'
import { authorize } from '../../access/authorize.js'
import { findProject, type ProjectRow } from '../../areas/projects/projects.queries.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The action of the abilities table that the route is. */
    can?: Action
    /** Open to everybody; no credentials are looked at. */
    public?: true
  }
  interface FastifyRequest {
    /** The project that the path names; only on routes whose action is about a project. */
    project: ProjectRow
  }
}

export function guardRoutes(app: FastifyInstance): void {
  app.decorateRequest('project', null as never)
  const routes: RouteOptions[] = []
  app.addHook('onRoute', route => void routes.push(route))
  // Only when all are registered: a plugin's own hooks may have opened its routes by then.
  app.addHook('onReady', async () => {
    const mute = routes.find(({ config }) => config?.can === undefined && config?.public === undefined)
    if (mute) throw new Error(`${String(mute.method)} ${mute.url} declares neither can nor public`)
  })
  app.addHook('preValidation', async request => {
    const { can } = request.routeOptions.config
    if (can === undefined) return
    if (abilities[can].on === 'instance') return authorize(request.actor, can)
    const { id } = request.params as { id: string }
    const project = await findProject(id, request.actor)
    authorize(request.actor, can, project)
    if (project) request.project = project
  })
}
