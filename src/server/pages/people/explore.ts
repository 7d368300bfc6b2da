// The lists of projects, and the form for a new one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applicationSettings } from '../../../areas/ground/settings/settings.queries.js'
import { listNamespaces } from '../../../areas/people/groups/namespaces.queries.js'
import { listProjects, type ProjectScope } from '../../../areas/projects/projects/project-list.queries.js'
import { createProject } from '../../../areas/projects/projects/projects.js'
import { findProject } from '../../../areas/projects/projects/projects.queries.js'
import { ProjectBody, ProjectListQuery } from '../../../areas/projects/projects/projects.schema.js'
import { NotFound } from '../../../errors.js'
import { pathOfName } from '../../../lib/path.js'
import { type Static, Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'

const { name, path, namespace_id, description, visibility_level } = ProjectBody.properties
const NewProject = Type.Object({ name, path, namespace_id, description, visibility_level })
type NewProject = Static<typeof NewProject>

export const projectListPages: FastifyPluginAsyncTypebox = async app => {
  const list = (url: string, scope: ProjectScope, can: `project.list${'' | '_visible'}`, title: string) =>
    app.get(url, { config: { can }, schema: { querystring: ProjectListQuery } }, (request, reply) =>
      showProjects(request, reply, { scope, title, query: request.query })
    )
  list('/explore', 'visible', 'project.list_visible', 'Projects')
  list('/dashboard/projects', 'member', 'project.list', 'Your projects')
  list('/dashboard/starred', 'starred', 'project.list', 'Starred projects')

  app.get(
    '/projects/new',
    { config: { can: 'project.create' }, schema: { querystring: Type.Object({ namespace_id }) } },
    (request, reply) => showForm(request, reply, request.query)
  )

  app.post('/projects', { config: { can: 'project.create' }, schema: { body: NewProject } }, async (request, reply) => {
    try {
      const made = await findProject(await createProject(request.body, request.origin), request.actor)
      if (!made) throw new NotFound('Project')
      return reply.redirect(projectPath(made), 303)
    } catch (error) {
      return showForm(request, reply.code(400), request.body, { ...refusalsOf(error), ...noPath(request.body) })
    }
  })
}

/** Not specified: a path for a name whose letters are of another alphabet. People choose one. */
const noPath = ({ name, path }: NewProject): Refusals =>
  path || pathOfName(name) !== '' ? {} : { path: 'Enter a path: the name has no letters for one.' }

interface Listed {
  readonly scope: ProjectScope
  readonly title: string
  readonly query: ProjectListQuery
}

export async function showProjects(
  request: FastifyRequest,
  reply: FastifyReply,
  { scope, title, query }: Listed
): Promise<FastifyReply> {
  const projects = await listProjects(scope, query, request.actor)
  return show(request, reply, 'people/projects', { title, projects, query, tab: scope })
}

/** The most namespaces that the form offers. */
const OFFERED = 100

async function showForm(
  request: FastifyRequest,
  reply: FastifyReply,
  entered: Partial<NewProject>,
  refusals?: Refusals
): Promise<FastifyReply> {
  const [{ items: namespaces }, { default_project_visibility: visibility }] = await Promise.all([
    listNamespaces({ per_page: OFFERED }, request.actor),
    applicationSettings()
  ])
  return show(request, reply, 'people/new-project', { title: 'New project', namespaces, visibility, entered, refusals })
}
