// Snippets of users.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { rawSnippet } from '../../../areas/projects/snippets/raw.js'
import {
  createPersonalSnippet,
  deleteSnippet,
  updatePersonalSnippet
} from '../../../areas/projects/snippets/snippets.js'
import {
  listOwnSnippets,
  listPublicSnippets,
  requireOwnSnippet,
  requireReadableSnippet,
  type SnippetRow,
  snippetContent
} from '../../../areas/projects/snippets/snippets.queries.js'
import { SnippetListQuery } from '../../../areas/projects/snippets/snippets.schema.js'
import { path } from '../components.js'
import { LARGEST_FORM } from '../form-limit.js'
import { show } from '../page-routes.js'
import { readSnippetPage, SnippetForm, SnippetPlace, saveSnippet, showSnippetForm } from './snippet-forms.js'
import { SHOWN } from './snippets.js'

export const personalSnippetPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/snippets'
  const one = `${all}/:snippet_id`
  const list = { config: { can: 'personal_snippet.read' as const }, schema: { querystring: SnippetListQuery } }
  const read = { config: { can: 'personal_snippet.read' as const }, schema: { params: SnippetPlace } }
  const write = { config: { can: 'personal_snippet.write' as const }, schema: { params: SnippetPlace } }
  const create = { config: { can: 'personal_snippet.write' as const } }

  app.get(all, list, async (request, reply) => {
    const snippets = await listOwnSnippets(askerOf(request.actor).id, request.query)
    return show(request, reply, 'projects/snippets', { title: 'Your snippets', snippets, base: '', mayCreate: true })
  })

  app.get('/explore/snippets', list, async (request, reply) => {
    const snippets = await listPublicSnippets(request.query)
    return show(request, reply, 'projects/snippets', { title: 'Public snippets', snippets, base: '', mayCreate: false })
  })

  app.get(`${all}/new`, create, (request, reply) =>
    showSnippetForm(request, reply, { ...formOf(), values: { visibility_level: 0 } })
  )

  app.post(all, { ...create, bodyLimit: LARGEST_FORM, schema: { body: SnippetForm } }, (request, reply) =>
    saveSnippet(request, reply, { ...formOf(), values: {} }, async values =>
      pageOf(await createPersonalSnippet(values, request.origin))
    )
  )

  app.get(one, read, async (request, reply) => {
    const { id } = askerOf(request.actor)
    const snippet = await requireReadableSnippet(request.params.snippet_id, id)
    const mayChange = snippet.author_id === id
    return show(request, reply, 'projects/snippet', {
      ...(await readSnippetPage(request, snippet)),
      base: pageOf(snippet),
      mayChange
    })
  })

  app.get(`${one}/raw`, read, async ({ actor, params }, reply) => {
    const snippet = await requireReadableSnippet(params.snippet_id, askerOf(actor).id)
    return reply.headers({ ...rawSnippet(snippet), ...SHOWN }).send(await snippetContent(snippet.id))
  })

  app.get(`${one}/edit`, write, async (request, reply) => {
    const snippet = await requireOwnSnippet(request.params.snippet_id, askerOf(request.actor).id)
    const values = { ...snippet, content: await snippetContent(snippet.id) } as Partial<SnippetForm>
    return showSnippetForm(request, reply, { ...formOf(snippet), values })
  })

  app.post(
    one,
    { ...write, bodyLimit: LARGEST_FORM, schema: { ...write.schema, body: SnippetForm } },
    async (request, reply) => {
      const snippet = await requireOwnSnippet(request.params.snippet_id, askerOf(request.actor).id)
      return saveSnippet(request, reply, { ...formOf(snippet), values: {} }, async values =>
        pageOf(await updatePersonalSnippet(snippet, values, request.origin, { unchanged: true }))
      )
    }
  )

  app.post(`${one}/delete`, write, async ({ params, actor }, reply) => {
    await deleteSnippet(await requireOwnSnippet(params.snippet_id, askerOf(actor).id))
    return reply.redirect(all, 303)
  })
}

const pageOf = ({ id }: SnippetRow) => path('snippets', id)

function formOf(snippet?: SnippetRow) {
  const page = snippet ? pageOf(snippet) : '/snippets'
  return { action: page, back: page, ...(snippet && { snippet }) }
}
