import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { askerOf } from '../../../access/actor.js'
import { PlainText } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { rawSnippet } from './raw.js'
import { createPersonalSnippet, deleteSnippet, updatePersonalSnippet } from './snippets.js'
import { listOwnSnippets, listPublicSnippets, requireOwnSnippet, snippetContent } from './snippets.queries.js'
import {
  PersonalSnippetBody,
  PersonalSnippetChange,
  PersonalSnippetParams,
  SnippetListQuery
} from './snippets.schema.js'
import { PersonalSnippet, viewPersonalSnippet } from './snippets.view.js'

const TAGS = ['Snippets']

export const personalSnippetRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'personal_snippet.read' as const }
  const write = { can: 'personal_snippet.write' as const }
  const many = { tags: TAGS, querystring: SnippetListQuery, response: { 200: Type.Array(PersonalSnippet) } }
  const one = { tags: TAGS, params: PersonalSnippetParams, response: { 200: PersonalSnippet } }

  app.get(
    '/snippets',
    {
      config: read,
      schema: { ...many, summary: 'List your snippets', description: 'Newest first, without the snippets of projects.' }
    },
    async ({ actor, query }, reply) => reply.page(await listOwnSnippets(askerOf(actor).id, query), viewPersonalSnippet)
  )

  app.get(
    '/snippets/public',
    {
      config: read,
      schema: {
        ...many,
        summary: 'List the public snippets of all users',
        description: 'Newest first, without the snippets of projects.'
      }
    },
    async ({ query }, reply) => reply.page(await listPublicSnippets(query), viewPersonalSnippet)
  )

  app.get(
    '/snippets/:id',
    { config: read, schema: { ...one, summary: 'Get one of your snippets' } },
    async ({ actor, params }) => viewPersonalSnippet(await requireOwnSnippet(params.id, askerOf(actor).id))
  )

  app.get(
    '/snippets/:id/raw',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'Get the text of one of your snippets',
        params: PersonalSnippetParams,
        response: { 200: PlainText('The text of the snippet.') }
      }
    },
    async ({ actor, params }, reply) => {
      const snippet = await requireOwnSnippet(params.id, askerOf(actor).id)
      return reply.headers(rawSnippet(snippet)).send(await snippetContent(snippet.id))
    }
  )

  app.post(
    '/snippets',
    {
      config: write,
      schema: { tags: TAGS, summary: 'Create a snippet', body: PersonalSnippetBody, response: { 201: PersonalSnippet } }
    },
    async ({ body, origin }, reply) =>
      reply.code(201).send(viewPersonalSnippet(await createPersonalSnippet(body, origin)))
  )

  app.put(
    '/snippets/:id',
    { config: write, schema: { ...one, summary: 'Change one of your snippets', body: PersonalSnippetChange } },
    async ({ actor, params, body, origin }) => {
      const old = await requireOwnSnippet(params.id, askerOf(actor).id)
      return viewPersonalSnippet(await updatePersonalSnippet(old, body, origin))
    }
  )

  app.delete(
    '/snippets/:id',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Delete one of your snippets',
        params: PersonalSnippetParams,
        response: { 204: Type.Null({ description: 'The snippet was deleted.' }) }
      }
    },
    async ({ actor, params }, reply) => {
      await deleteSnippet(await requireOwnSnippet(params.id, askerOf(actor).id))
      return reply.code(204).send(null)
    }
  )
}
