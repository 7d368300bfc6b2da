// Every route names its action, otherwise the server does not start. This plugin loads the project or group of the route.
//
// "Error conventions" defines the order of the checks. Credentials come first, before the server reads the body; then the areas
// whose projects are filtered as a whole; then the parameters; then the project or group. The handler checks the record.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type Ability, type Action, type ActionOn, abilities, abilityOf } from '../../access/abilities.js'
import type { Actor } from '../../access/actor.js'
import { answersEmpty, authorize, authorizeGroup, authorizeProject, requireUser } from '../../access/authorize.js'
import { findGroup, type GroupRow } from '../../areas/people/groups/groups.queries.js'
import {
  findProject,
  findProjectWithVersion,
  findShownProject,
  type ProjectRow,
  type ShownProjectRow
} from '../../areas/projects/projects/projects.queries.js'
import { type PageRequest, window } from '../../db/lists/paginate.js'
import { NotFound } from '../../errors.js'
import { sendKept } from './kept-answers.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The action of the route, from the table of abilities. */
    readonly can?: Action
    /** The route is open to everybody and ignores credentials. */
    readonly public?: true
    /** The route returns the record of the project. */
    readonly showsProject?: true
    /**
     * The answer may be kept. It depends only on rows that SQL reads, and statements that name `projects` or `namespaces` read those
     * of the path: see kept-answers.ts.
     */
    readonly kept?: true
  }
  interface FastifyRequest {
    /** The project that the path names; only on routes whose action is about a project. */
    project: ProjectRow
    /** The same project; only on routes that show its record. */
    shownProject: ShownProjectRow
    /** The project of the path as it was read with the credentials; it is valid for this actor only. */
    found: { readonly actor: Actor; readonly project: ProjectRow | undefined } | null
    /** The group that the path names; only on routes whose action is about a group. */
    group: GroupRow
  }
}

export function guardRoutes(app: FastifyInstance): void {
  app.decorateRequest('project', null as never)
  app.decorateRequest('shownProject', null as never)
  app.decorateRequest('found', null)
  app.decorateRequest('group', null as never)
  const routes: RouteOptions[] = []
  app.addHook('onRoute', route => void routes.push(route))
  // Checks when all routes are registered, because hooks of a plugin may open its routes until then.
  app.addHook('onReady', async () => {
    for (const { method, url, config } of routes) {
      if (config?.can === undefined && config?.public === undefined) {
        throw new Error(`${String(method)} ${url} declares neither can nor public`)
      }
      if (config.can !== undefined && !Object.hasOwn(abilities, config.can)) {
        throw new Error(
          `${String(method)} ${url} is the action ${config.can}, which src/access/abilities.ts has no line for`
        )
      }
      const before = config.can && beforeOf(abilityOf(config.can))
      if (before !== undefined && !Object.hasOwn(abilities, before)) throw new Error(`there is no action ${before}`)
    }
  })
  // Not async functions: public routes wait for nothing.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.awaitsCredentials || request.routeOptions.config.can === undefined) return done()
    openRoute(request).then(() => done(), done)
  })
  app.addHook('preHandler', (request, reply, done) => {
    if (request.routeOptions.config.can === undefined) return done()
    openSubject(request, reply).then(() => done(), done)
  })
}

const beforeOf = (ability: Ability) => (ability.on === 'project' ? ability.before : undefined)

/** Runs the checks that need no parameters. */
export async function openRoute(request: FastifyRequest): Promise<void> {
  const { can } = request.routeOptions.config
  if (can === undefined) return
  const ability = abilityOf(can)
  if (ability.on === 'instance') return authorize(request.actor, can as ActionOn<'instance'>)
  requireUser(request.actor, can)
  const before = beforeOf(ability)
  if (before !== undefined) await loadProject(request, before as ActionOn<'project'>)
}

/** Loads the project or group of the path, and checks the action on it. */
async function openSubject(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { can } = request.routeOptions.config
  if (can === undefined) return undefined
  if (request.awaitsCredentials) throw new Error(`${request.routeOptions.url} never looks for credentials in its body`)
  const { on } = abilityOf(can)
  if (on === 'group') return loadGroup(request, can as ActionOn<'group'>)
  if (on !== 'project') return undefined
  const action = can as ActionOn<'project'>
  if (beforeOf(abilityOf(can)) === can) return undefined
  await loadProject(request, action)
  if (!answersEmpty(action, request.project)) return sendKept(request, reply)
  if (request.routeOptions.config.page) throw new NotFound()
  const { page, perPage } = window(request.query as PageRequest)
  return reply.send(reply.page({ items: [], total: 0, page, perPage }, item => item))
}

/** The API identifies a project by `:id`, and the path of a file by the path of its project. */
function idOf({ params }: FastifyRequest): string {
  const { id, namespace, project } = params as { id?: string; namespace?: string; project?: string }
  return id ?? `${namespace}/${project}`
}

async function loadProject(request: FastifyRequest, action: ActionOn<'project'>): Promise<void> {
  const { actor, found } = request
  const project = found && found.actor === actor ? found.project : await readProject(request)
  authorizeProject(request.actor, action, project)
  if (project) request.project = project
  if (project && request.routeOptions.config.showsProject) request.shownProject = project as ShownProjectRow
}

function readProject(request: FastifyRequest): Promise<ProjectRow | undefined> {
  const { showsProject, page } = request.routeOptions.config
  const find = showsProject ? findShownProject : page ? findProjectWithVersion : findProject
  return find(idOf(request), request.actor)
}

/**
 * The id of the project of the path, when the request may read it together with its credentials. A write whose body is still
 * arriving reads it later: the client may send slowly, and lose its rights in the meantime.
 */
export function projectIdOf(request: FastifyRequest): number | undefined {
  if (!isAboutProject(request) || (request.method !== 'GET' && !request.raw.complete)) return undefined
  const id = idOf(request)
  return /^\d{1,10}$/.test(id) ? Number(id) : undefined
}

/** The path of the project of a page that is only read, and does not show the whole record: it is read together with the session. */
export function projectPathOf(request: FastifyRequest): readonly [namespace: string, path: string] | undefined {
  const { namespace, project } = request.params as { namespace?: string; project?: string }
  if (!isAboutProject(request) || request.routeOptions.config.showsProject || request.method !== 'GET') return undefined
  return namespace === undefined || project === undefined ? undefined : [namespace, project]
}

function isAboutProject({ routeOptions }: FastifyRequest): boolean {
  const { can } = routeOptions.config
  return can !== undefined && abilityOf(can).on === 'project'
}

async function loadGroup(request: FastifyRequest, action: ActionOn<'group'>): Promise<void> {
  const group = await findGroup(idOf(request), request.actor)
  authorizeGroup(request.actor, action, group)
  if (group) request.group = group
}
