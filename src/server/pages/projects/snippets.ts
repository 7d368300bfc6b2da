// Snippets of a project.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { rawSnippet } from '../../../areas/projects/snippets/raw.js'
import { mayChangeSnippet, requireChangeableSnippet } from '../../../areas/projects/snippets/snippet-rights.js'
import { createProjectSnippet, deleteSnippet, updateProjectSnippet } from '../../../areas/projects/snippets/snippets.js'
import {
  listProjectSnippets,
  requireProjectSnippet,
  type SnippetRow,
  snippetContent
} from '../../../areas/projects/snippets/snippets.queries.js'
import { SnippetListQuery } from '../../../areas/projects/snippets/snippets.schema.js'
import { path } from '../components.js'
import { LARGEST_FORM } from '../form-limit.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { readDiscussion } from '../planning/discussion.js'
import { readSnippetPage, SnippetForm, SnippetPlace, saveSnippet, showSnippetForm } from './snippet-forms.js'

export const snippetPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/snippets'
  const one = `${all}/:snippet_id`
  const read = { config: { can: 'snippet.read' as const }, schema: { params: SnippetPlace } }
  const write = { config: { can: 'snippet.write' as const }, schema: { params: SnippetPlace } }
  const create = { config: { can: 'snippet.create' as const } }

  app.get(
    all,
    { config: { can: 'snippet.list' }, schema: { querystring: SnippetListQuery } },
    async (request, reply) => {
      const { project, query, actor } = request
      const snippets = await listProjectSnippets(project, query, actor)
      const base = projectPath(project)
      const mayCreate = may(actor, 'snippet.create', project)
      return show(request, reply, 'projects/snippets', { title: 'Snippets', snippets, base, mayCreate })
    }
  )

  app.get(`${all}/new`, create, (request, reply) =>
    showSnippetForm(request, reply, { ...formOf(request), values: { visibility_level: 0 } })
  )

  app.post(all, { ...create, bodyLimit: LARGEST_FORM, schema: { body: SnippetForm } }, (request, reply) =>
    saveSnippet(request, reply, { ...formOf(request), values: {} }, async ({ content: code, ...values }) =>
      pageOf(request, await createProjectSnippet(request.project, { ...values, code }, request.origin))
    )
  )

  app.get(one, read, async (request, reply) => {
    const { project, params, actor } = request
    const snippet = await requireProjectSnippet(project, params.snippet_id, actor)
    const noteable = { type: 'Snippet', id: snippet.id, authorId: snippet.author_id, confidential: false } as const
    const [page, discussion] = await Promise.all([
      readSnippetPage(request, snippet),
      readDiscussion(request, noteable, {})
    ])
    return show(request, reply, 'projects/snippet', {
      ...page,
      discussion,
      base: pageOf(request, snippet),
      mayChange: mayChangeSnippet(request, snippet)
    })
  })

  app.get(`${one}/raw`, read, async ({ project, params, actor }, reply) => {
    const snippet = await requireProjectSnippet(project, params.snippet_id, actor)
    return reply.headers({ ...rawSnippet(snippet), ...SHOWN }).send(await snippetContent(snippet.id))
  })

  app.get(`${one}/edit`, write, async (request, reply) => {
    const snippet = await requireChangeableSnippet(request, request.params.snippet_id)
    const values = { ...snippet, content: await snippetContent(snippet.id) } as Partial<SnippetForm>
    return showSnippetForm(request, reply, { ...formOf(request, snippet), values })
  })

  app.post(
    one,
    { ...write, bodyLimit: LARGEST_FORM, schema: { ...write.schema, body: SnippetForm } },
    async (request, reply) => {
      const snippet = await requireChangeableSnippet(request, request.params.snippet_id)
      const page = { ...formOf(request, snippet), values: {} }
      return saveSnippet(request, reply, page, async ({ content: code, ...values }) =>
        pageOf(request, await updateProjectSnippet(snippet, { ...values, code }, request.origin, { unchanged: true }))
      )
    }
  )

  app.post(`${one}/delete`, write, async (request, reply) => {
    await deleteSnippet(await requireChangeableSnippet(request, request.params.snippet_id))
    return reply.redirect(`${projectPath(request.project)}/snippets`, 303)
  })
}

/** A browser shows the text, in a sandbox. */
export const SHOWN = { 'content-disposition': 'inline' }

type Asked = Pick<FastifyRequest, 'project' | 'actor'>

const pageOf = ({ project }: Asked, { id }: SnippetRow) => projectPath(project) + path('snippets', id)

function formOf(request: Asked, snippet?: SnippetRow) {
  const list = `${projectPath(request.project)}/snippets`
  const page = snippet ? pageOf(request, snippet) : list
  return { action: page, back: page, ...(snippet && { snippet }) }
}
