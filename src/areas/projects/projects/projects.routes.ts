import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requireNumberedUser } from '../../people/users/users.queries.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import { sendProjects } from './lists/project-texts.js'
import { type ProjectScope, pageOfProjects } from './project-list.queries.js'
import { archiveProject, authorizeChange, updateProject } from './project-update.js'
import { listProjectUsers } from './project-users.queries.js'
import { createProject, createProjectFor } from './projects.js'
import {
  CountedListQuery,
  ProjectBody,
  ProjectChange,
  ProjectListQuery,
  ProjectUsersQuery,
  SearchParams,
  UserIdParams,
  UserProjectBody
} from './projects.schema.js'
import { Project } from './projects.view.js'
import { showProject } from './show-project.js'
import { starProject, unstarProject } from './stars.js'

const TAGS = ['Projects']

export const projectRoutes: FastifyPluginAsyncTypebox = async app => {
  const answer = { response: { 200: Type.Array(Project) } }

  const list = (path: string, scope: ProjectScope, can: `project.list${'' | '_visible'}`, summary: string) =>
    app.get(
      path,
      { config: { can }, schema: { tags: TAGS, summary, querystring: ProjectListQuery, ...answer } },
      async ({ query, actor }, reply) => {
        return sendProjects(reply, await pageOfProjects(scope, query, actor), actor, query)
      }
    )

  const counted = (path: string, scope: ProjectScope, can: `project.list${'' | '_all'}`, summary: string) =>
    app.get(
      path,
      { config: { can }, schema: { tags: TAGS, summary, querystring: CountedListQuery, ...answer } },
      async ({ query, actor }, reply) => {
        return sendProjects(reply, await pageOfProjects(scope, query, actor), actor, query)
      }
    )

  list('/projects', 'member', 'project.list', 'List the projects that you own or are a member of')
  list('/projects/visible', 'visible', 'project.list_visible', 'List the projects that you can see')
  counted('/projects/owned', 'owned', 'project.list', 'List the projects that you own')
  counted('/projects/all', 'all', 'project.list_all', 'List all projects of the instance')

  app.get(
    '/projects/starred',
    {
      config: { can: 'project.list' },
      schema: {
        tags: TAGS,
        summary: 'List the projects that you have starred',
        querystring: ProjectListQuery,
        ...answer
      }
    },
    async ({ query, actor }, reply) => {
      const page = await pageOfProjects('starred', query, actor)
      return sendProjects(reply, page, actor, { ...query, withoutPermissions: true })
    }
  )

  app.get(
    '/projects/search/:query',
    {
      config: { can: 'project.list_visible' },
      schema: {
        tags: TAGS,
        summary: 'Search the projects that you can see',
        description: 'Searches by a part of the name, path or description.',
        params: SearchParams,
        querystring: ProjectListQuery,
        ...answer
      }
    },
    async ({ params, query, actor }, reply) => {
      const page = await pageOfProjects('visible', { ...query, search: params.query }, actor)
      return sendProjects(reply, page, actor, { ...query, withoutPermissions: true })
    }
  )

  app.get(
    '/projects/:id',
    {
      config: { can: 'project.read', showsProject: true },
      schema: { tags: TAGS, summary: 'Get a project', params: ProjectParams, response: { 200: Project } }
    },
    async ({ shownProject, actor }) => showProject(shownProject, actor)
  )

  app.get(
    '/projects/:id/users',
    {
      config: { can: 'project.read' },
      schema: {
        tags: TAGS,
        summary: 'List the users of a project',
        description: 'Members of the project, of its group and of the groups that it is shared with, and the owner.',
        params: ProjectParams,
        querystring: ProjectUsersQuery,
        response: { 200: Type.Array(UserBasic) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listProjectUsers(project, query), viewUserBasic)
  )

  app.post(
    '/projects',
    {
      config: { can: 'project.create' },
      schema: {
        tags: TAGS,
        summary: 'Create a project',
        description:
          'With an empty repository, or with one that a job fetches from `import_url`. A user who owns as many projects as allowed gets 403.',
        body: ProjectBody,
        response: { 201: Project },
        errors: [403]
      }
    },
    async ({ body, actor, origin }, reply) =>
      reply.code(201).send(await showProject(await createProject(body, origin), actor))
  )

  app.post(
    '/projects/user/:user_id',
    {
      config: { can: 'project.create_for_user' },
      schema: {
        tags: TAGS,
        summary: 'Create a project for another user',
        params: UserIdParams,
        body: UserProjectBody,
        response: { 201: Project },
        errors: [404]
      }
    },
    async ({ params, body, actor, origin }, reply) => {
      const owner = await requireNumberedUser(params.user_id)
      return reply.code(201).send(await showProject(await createProjectFor(owner, body, origin), actor))
    }
  )

  app.put(
    '/projects/:id',
    {
      config: { can: 'project.update' },
      schema: {
        tags: TAGS,
        summary: 'Change a project',
        description:
          'Needs at least one attribute. Only the owner can change the name and the visibility. After a change of `path`, the old path redirects to the project until another project takes it.',
        params: ProjectParams,
        body: ProjectChange,
        response: { 200: Project }
      }
    },
    async ({ project, body, actor, origin }) => {
      authorizeChange(actor, project, body)
      await updateProject(project, body, origin)
      return showProject(project.id, actor)
    }
  )

  const archive = (verb: 'archive' | 'unarchive', summary: string) =>
    app.post(
      `/projects/:id/${verb}`,
      {
        config: { can: 'project.administer' },
        schema: { tags: TAGS, summary, params: ProjectParams, response: { 201: Project } }
      },
      async ({ project, actor, origin }, reply) => {
        await archiveProject(project, verb === 'archive', origin)
        return reply.code(201).send(await showProject(project.id, actor))
      }
    )

  archive('archive', 'Archive a project: nobody can push to it or open merge requests')
  archive('unarchive', 'Unarchive a project')

  app.post(
    '/projects/:id/star',
    {
      config: { can: 'project.star' },
      schema: {
        tags: TAGS,
        summary: 'Star a project',
        params: ProjectParams,
        response: { 201: Project },
        errors: [304]
      }
    },
    async ({ project, actor }, reply) => {
      await starProject(project, askerOf(actor))
      return reply.code(201).send(await showProject(project.id, actor))
    }
  )

  app.delete(
    '/projects/:id/star',
    {
      config: { can: 'project.star' },
      schema: {
        tags: TAGS,
        summary: 'Unstar a project',
        params: ProjectParams,
        response: { 200: Project },
        errors: [304]
      }
    },
    async ({ project, actor }) => {
      await unstarProject(project, askerOf(actor))
      return showProject(project.id, actor)
    }
  )
}
