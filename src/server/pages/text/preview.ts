// Shows a text as it would look, before its form is sent: the button (`it.ui.preview`) belongs to that form.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { canSee } from '../../../access/authorize.js'
import { findProject } from '../../../areas/projects/projects/projects.queries.js'
import { Type } from '../../../lib/type.js'
import { renderPart } from '../page.js'
import { show } from '../page-routes.js'
import { textsHtml } from './texts.js'

/** The maximum length of a note or description; a form encodes a character with up to nine. */
const LONGEST = 262_144
const BODY_LIMIT = 9 * LONGEST + 65_536

const PreviewQuery = Type.Object({
  project: Type.Optional(Type.String({ maxLength: 511 })),
  part: Type.Optional(Type.String({ maxLength: 1 }))
})
/** All fields of a form. `preview` names the field with the text. */
const PreviewBody = Type.Record(Type.String(), Type.Unknown())

export const previewPages: FastifyPluginAsyncTypebox = async app => {
  app.post(
    '/markdown/preview',
    { bodyLimit: BODY_LIMIT, config: { can: 'user.read' }, schema: { querystring: PreviewQuery, body: PreviewBody } },
    async (request, reply) => {
      const { actor, query, body } = request
      const name = String(body.preview)
      const text = Object.hasOwn(body, name) ? String(body[name]).slice(0, LONGEST) : ''
      const project = query.project ? await findProject(query.project, actor) : undefined
      const [html] = await textsHtml([text], { actor, project: project && canSee(project, actor) ? project : null })
      const page = { title: 'Preview', html }
      if (query.part === undefined) return show(request, reply, 'text/preview', page)
      return reply.type('text/html; charset=utf-8').send(renderPart('text/preview-part', page))
    }
  )
}
