// The same four routes for each kind of record that gets emoji, and for the notes about it.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { authorizeRecord } from '../../../access/records.js'
import { NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { giveAward, removeAward } from './awards.js'
import { type Awardable, listAwards, requireAward } from './awards.queries.js'
import { AwardBody, AwardListQuery, awardParams, awardsParams } from './awards.schema.js'
import { Award, viewAward } from './awards.view.js'
import { NOTEABLE_KINDS } from './kinds/all.js'
import type { NoteableKind } from './noteables.js'
import { requireNote } from './notes.queries.js'

const TAGS = ['Award emoji']

interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
  readonly params: unknown
}

interface Place {
  readonly path: string
  readonly words: string
  readonly parents: readonly (readonly [param: string, what: string])[]
  readonly find: (asked: Asked) => Promise<Awardable>
}

/** Returns the places of one kind: the record itself, and the notes about it. */
function placesOf(kind: NoteableKind): Place[] {
  const { words } = kind
  const parent = [kind.param, words.replace(/^an? /, 'the ')] as const
  const path = `/projects/:id/${kind.segment}/:${kind.param}`
  const find = async ({ project, actor, params }: Asked) => {
    const found = await kind.find(project, (params as Record<string, number>)[kind.param] ?? 0, actor)
    if (!found) throw new NotFound('Award Emoji')
    return found
  }
  const findNote = async (asked: Asked): Promise<Awardable> => {
    const noteable = await find(asked)
    const { id, author_id: authorId } = await requireNote(
      noteable,
      (asked.params as { note_id: number }).note_id,
      asked.actor
    ).catch(error => {
      throw error instanceof NotFound ? new NotFound('Award Emoji') : error
    })
    return { type: 'Note', id, authorId }
  }
  return [
    { path, words, parents: [parent], find },
    {
      path: `${path}/notes/:note_id`,
      words: `a note about ${words}`,
      parents: [parent, ['note_id', 'the note']],
      find: findNote
    }
  ]
}

export const awardRoutes: FastifyPluginAsyncTypebox = async app => {
  for (const place of NOTEABLE_KINDS.flatMap(placesOf)) await app.register(awardsAt(place))
}

const awardsAt =
  ({ path, words, parents, find }: Place): FastifyPluginAsyncTypebox =>
  async app => {
    const read = { can: 'award.read' as const }
    const write = { can: 'award.write' as const }
    const one = { tags: TAGS, params: awardParams(parents), response: { 200: Award } }
    const idOf = ({ params }: Asked) => (params as { award_id: number }).award_id

    app.get(
      `${path}/award_emoji`,
      {
        config: read,
        schema: {
          tags: TAGS,

          summary: `List the emoji of ${words}`,
          description: 'Oldest first.',
          params: awardsParams(parents),
          querystring: AwardListQuery,
          response: { 200: Type.Array(Award) }
        }
      },
      async (req, reply) => reply.page(await listAwards(await find(req), req.query), viewAward)
    )

    app.get(
      `${path}/award_emoji/:award_id`,
      { config: read, schema: { ...one, summary: `Get an emoji of ${words}` } },
      async req => viewAward(await requireAward(await find(req), idOf(req)))
    )

    app.post(
      `${path}/award_emoji`,
      {
        config: write,
        schema: {
          tags: TAGS,

          summary: `Give an emoji to ${words}`,
          description: 'Users give each emoji once, and cannot vote (`thumbsup`, `thumbsdown`) for their own records.',
          params: awardsParams(parents),
          body: AwardBody,
          response: { 201: Award }
        }
      },
      async (req, reply) => reply.code(201).send(viewAward(await giveAward(await find(req), req.body.name, req.actor)))
    )

    app.delete(
      `${path}/award_emoji/:award_id`,
      {
        config: write,
        schema: { ...one, summary: `Take back an emoji of ${words}` }
      },
      async req => {
        const award = await requireAward(await find(req), idOf(req))
        authorizeRecord(req.actor, 'award.remove', { owner: award.user_id })
        await removeAward(award, req.project.id)
        return viewAward(award)
      }
    )
  }
