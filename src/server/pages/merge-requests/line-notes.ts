// Notes about lines of the changes: the form that writes one, and the way from a note to its line.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { createLineNote, versionOfNote } from '../../../areas/planning/discussion/line-notes.js'
import { OnlyCommands } from '../../../areas/planning/discussion/notes.js'
import { requireNote } from '../../../areas/planning/discussion/notes.queries.js'
import { requireByNumber } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { listVersions } from '../../../areas/planning/merge-requests/versions/versions.queries.js'
import { Stale } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { DiffQuery, queryOf } from '../code/diff.js'
import { FORM_LIMIT } from '../form-limit.js'
import { show } from '../page-routes.js'
import { keptQuery, pathOf } from '../planning/discussion.js'
import { refusalsOf } from '../refusals.js'
import { mergeRequestPath, Numbered } from './head.js'

const Form = Type.Object({
  note: Type.String(),
  path: Type.String({ maxLength: 4096 }),
  line: Type.Integer({ minimum: 1, maximum: 2 ** 31 }),
  side: Type.Enum(['new', 'old']),
  head: Type.String({ maxLength: 40 }),
  // The part of the changes from which the form is sent, and to which it leads back.
  ...DiffQuery
})
const NotedParams = Type.Object({ ...Numbered.properties, note: Type.Integer() })

const PUSHED =
  'The source branch has new commits since you opened this page. Look at the changes: the line may be another one now.'

/** Returns the query of the changes of one file. */
const queryTo = (query: { readonly file?: string | undefined; readonly version?: string }) =>
  new URLSearchParams(Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined))

export const lineNotePages: FastifyPluginAsyncTypebox = async app => {
  const one = '/:namespace/:project/merge_requests/:iid'
  const config = { can: 'merge_request.read' as const }

  app.post(
    `${one}/line_notes`,
    { config, bodyLimit: FORM_LIMIT, schema: { params: Numbered, body: Form } },
    async (request, reply) => {
      const { project, body } = request
      const found = await requireByNumber(request.project.id, request.params.iid)
      const base = mergeRequestPath(project, found.iid)
      const { note, view, file, context, skip, ...place } = body
      const back = `${base}/diffs?${queryOf({ view, file, context, skip })}`
      try {
        const made = await createLineNote(project, found, { ...place, body: note }, request)
        return reply.redirect(`${back}${keptQuery(made, '&')}#note_${made.id}`, 303)
      } catch (error) {
        if (error instanceof OnlyCommands) return reply.redirect(base, 303)
        const refusals = error instanceof Stale ? { base: PUSHED } : refusalsOf(error)
        const values = { ...body, head: found.head_sha }
        return show(request, reply.code(error instanceof Stale ? 409 : 400), 'merge-requests/line-note', {
          title: 'Comment on a line',
          base,
          back,
          project: pathOf(project),
          values,
          refusals
        })
      }
    }
  )

  app.get(`${one}/diffs/notes/:note`, { config, schema: { params: NotedParams } }, async (request, reply) => {
    const { project, params, actor } = request
    const found = await requireByNumber(request.project.id, request.params.iid)
    const noteable = { type: 'MergeRequest', id: found.id, authorId: found.author_id, confidential: false } as const
    const note = await requireNote(noteable, params.note, actor)
    const versions = await listVersions(found.id)
    const version = versionOfNote(note, versions)
    const query = queryTo({
      ...(version && version.id !== versions[0]?.id && { version: String(version.id) }),
      file: note.path ?? undefined
    })
    return reply.redirect(`${mergeRequestPath(project, found.iid)}/diffs?${query}#note_${note.id}`)
  })
}
