// The older routes of notes about merge requests. Their records contain only a text and an author.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { described, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { UserBasic } from '../../people/users/users.view.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { mergeRequestKind } from './kinds/merge-requests.js'
import { createNote } from './notes.js'
import { listNotes, type NoteRow } from './notes.queries.js'
import { NoteListQuery, notesParams } from './notes.schema.js'
import { viewNote } from './notes.view.js'

const TAGS = ['Merge requests']
const Params = notesParams('merge_request_id', 'the merge request')
const CommentBody = Type.Object(
  { note: Text('the text, in Markdown, of at most 262,144 characters') },
  { title: 'MergeRequestCommentBody', description: 'A comment about a merge request.' }
)
const Comment = Type.Object(
  { note: Text('the text, in Markdown'), author: described(UserBasic, 'the user who wrote it') },
  { title: 'MergeRequestComment', description: 'A note about a merge request, in the older form.' }
)

const commentOf = (note: NoteRow): Static<typeof Comment> => ({ note: note.note, author: viewNote(note).author })

async function mergeRequestOf({ project, actor, params }: { project: ProjectRow; actor: Actor; params: unknown }) {
  const { merge_request_id: id } = params as { merge_request_id: number }
  const found = await mergeRequestKind.find(project, id, actor)
  if (!found) throw new NotFound()
  return found
}

export const mergeRequestCommentRoutes: FastifyPluginAsyncTypebox = async app => {
  for (const segment of ['merge_requests', 'merge_request']) {
    const path = `/projects/:id/${segment}/:merge_request_id/comments`
    // The same operations have two paths; those of the second path get names of their own.
    const named = (operationId: string) => (segment === 'merge_request' ? { operationId } : {})
    const shared = { tags: TAGS, deprecated: true, params: Params }

    app.get(
      path,
      {
        config: { can: 'merge_request.read' },
        schema: {
          ...shared,
          ...named('listOldMergeRequestComments'),
          summary: 'List the comments about a merge request',
          description: 'Oldest first.',
          querystring: NoteListQuery,
          response: { 200: Type.Array(Comment) }
        }
      },
      async (req, reply) => reply.page(await listNotes(await mergeRequestOf(req), req.query, req.actor), commentOf)
    )

    app.post(
      path,
      {
        config: { can: 'merge_request.read' },
        schema: {
          ...shared,
          ...named('createOldMergeRequestComment'),
          summary: 'Comment on a merge request',
          body: CommentBody,
          response: { 201: Comment }
        }
      },
      async (req, reply) => {
        const note = await createNote(req.project, await mergeRequestOf(req), { body: req.body.note }, req.actor)
        return reply.code(201).send(commentOf(note))
      }
    )
  }
}
