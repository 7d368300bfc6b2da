import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { PlainText, ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { rawSnippet } from './raw.js'
import { requireChangeableSnippet } from './snippet-rights.js'
import { createProjectSnippet, deleteSnippet, updateProjectSnippet } from './snippets.js'
import { listProjectSnippets, requireProjectSnippet, snippetContent } from './snippets.queries.js'
import { SnippetBody, SnippetChange, SnippetListQuery, SnippetParams } from './snippets.schema.js'
import { ProjectSnippet, viewProjectSnippet } from './snippets.view.js'

const TAGS = ['Snippets']

export const snippetRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'snippet.read' as const }
  const write = { can: 'snippet.write' as const }
  const one = { tags: TAGS, params: SnippetParams, response: { 200: ProjectSnippet } }

  app.get(
    '/projects/:id/snippets',
    {
      config: { can: 'snippet.list' },
      schema: {
        tags: TAGS,
        summary: 'List the snippets of a project',
        description: 'Newest first. Only members see private snippets.',
        params: ProjectParams,
        querystring: SnippetListQuery,
        response: { 200: Type.Array(ProjectSnippet) }
      }
    },
    async ({ project, query, actor }, reply) =>
      reply.page(await listProjectSnippets(project, query, actor), snippet => viewProjectSnippet(snippet, project))
  )

  app.get(
    '/projects/:id/snippets/:snippet_id',
    { config: read, schema: { ...one, summary: 'Get a snippet of a project' } },
    async ({ project, params, actor }) =>
      viewProjectSnippet(await requireProjectSnippet(project, params.snippet_id, actor), project)
  )

  app.get(
    '/projects/:id/snippets/:snippet_id/raw',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'Get the text of a snippet of a project',
        params: SnippetParams,
        response: { 200: PlainText('The text of the snippet.') }
      }
    },
    async ({ project, params, actor }, reply) => {
      const snippet = await requireProjectSnippet(project, params.snippet_id, actor)
      return reply.headers(rawSnippet(snippet)).send(await snippetContent(snippet.id))
    }
  )

  app.post(
    '/projects/:id/snippets',
    {
      config: { can: 'snippet.create' },
      schema: {
        tags: TAGS,
        summary: 'Create a snippet in a project',
        params: ProjectParams,
        body: SnippetBody,
        response: { 201: ProjectSnippet }
      }
    },
    async ({ project, body, origin }, reply) =>
      reply.code(201).send(viewProjectSnippet(await createProjectSnippet(project, body, origin), project))
  )

  app.put(
    '/projects/:id/snippets/:snippet_id',
    { config: write, schema: { ...one, summary: 'Change a snippet of a project', body: SnippetChange } },
    async req => {
      const old = await requireChangeableSnippet(req, req.params.snippet_id)
      return viewProjectSnippet(await updateProjectSnippet(old, req.body, req.origin), req.project)
    }
  )

  app.delete(
    '/projects/:id/snippets/:snippet_id',
    { config: write, schema: { ...one, summary: 'Delete a snippet of a project' } },
    async req => {
      const snippet = await requireChangeableSnippet(req, req.params.snippet_id)
      await deleteSnippet(snippet)
      return viewProjectSnippet(snippet, req.project)
    }
  )
}
