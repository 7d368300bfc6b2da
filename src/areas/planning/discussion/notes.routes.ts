// The same five routes for each kind of record that has notes.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { noteEmoji } from './awards.js'
import { Award, viewAward } from './awards.view.js'
import { NOTEABLE_KINDS } from './kinds/all.js'
import { requireChangeableNote } from './note-rights.js'
import type { Noteable, NoteableKind } from './noteables.js'
import { createNoteWithCommands, deleteNote, updateNote } from './notes.js'
import { listNotes, requireNote } from './notes.queries.js'
import { NoteBody, NoteChange, NoteListQuery, noteParams, notesParams } from './notes.schema.js'
import { Note, viewNote } from './notes.view.js'

const TAGS = ['Notes']

interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
  readonly params: unknown
}

/** Returns the record that the path names. Throws NotFound for `what` when the caller may not read it. */
async function noteableOf(kind: NoteableKind, { project, actor, params }: Asked, what = 'Note'): Promise<Noteable> {
  const found = await kind.find(project, (params as Record<string, number>)[kind.param] ?? 0, actor)
  if (!found) throw new NotFound(what)
  return found
}

async function noteOf(kind: NoteableKind, asked: Asked) {
  const noteable = await noteableOf(kind, asked)
  return requireNote(noteable, (asked.params as { note_id: number }).note_id, asked.actor)
}

async function changeableNote(kind: NoteableKind, asked: Asked) {
  const noteable = await noteableOf(kind, asked)
  return requireChangeableNote(asked.project, noteable, (asked.params as { note_id: number }).note_id, asked.actor)
}

export const noteRoutes: FastifyPluginAsyncTypebox = async app => {
  for (const kind of NOTEABLE_KINDS) await app.register(notesOf(kind))
}

const notesOf =
  (kind: NoteableKind): FastifyPluginAsyncTypebox =>
  async app => {
    const { words } = kind
    const path = `/projects/:id/${kind.segment}/:${kind.param}/notes`
    const read = { can: 'note.read' as const }
    const write = { can: 'note.write' as const }
    const params = noteParams(kind.param, words.replace(/^an? /, 'the '))
    const one = { tags: TAGS, params, response: { 200: Note } }

    app.get(
      path,
      {
        config: { ...read, kept: true },
        schema: {
          tags: TAGS,

          summary: `List the notes about ${words}`,
          description: 'Oldest first. Leaves out mentions in records that you cannot see, so a page may be shorter.',
          params: notesParams(kind.param, words.replace(/^an? /, 'the ')),
          querystring: NoteListQuery,
          response: { 200: Type.Array(Note) }
        }
      },
      async (req, reply) => {
        const noteable = await noteableOf(kind, req, 'Notes')
        return reply.page(await listNotes(noteable, req.query, req.actor), viewNote)
      }
    )

    app.get(`${path}/:note_id`, { config: read, schema: { ...one, summary: `Get a note about ${words}` } }, async req =>
      viewNote(await noteOf(kind, req))
    )

    app.post(
      path,
      {
        config: write,
        schema: {
          tags: TAGS,

          summary: `Write a note about ${words}`,
          description:
            'A text that is only an emoji, such as `:tada:`, creates and returns an award. Lines such as `/close` are commands.',
          params: notesParams(kind.param, words.replace(/^an? /, 'the ')),
          body: NoteBody,
          response: { 201: Type.Union([Note, Award]) }
        }
      },
      async (req, reply) => {
        const noteable = await noteableOf(kind, req)
        const award = await noteEmoji(noteable, req.body.body, req.actor)
        const made = award
          ? viewAward(award)
          : viewNote(await createNoteWithCommands(req.project, noteable, req.body, req))
        return reply.code(201).send(made)
      }
    )

    app.put(
      `${path}/:note_id`,
      {
        config: write,
        schema: {
          ...one,

          summary: `Change a note about ${words}`,
          description: 'Automatic notes cannot be changed.',
          body: NoteChange,
          errors: [403]
        }
      },
      async req => viewNote(await updateNote(await changeableNote(kind, req), req.body, req.actor))
    )

    app.delete(
      `${path}/:note_id`,
      { config: write, schema: { ...one, summary: `Delete a note about ${words}`, errors: [403] } },
      async req => {
        const note = await changeableNote(kind, req)
        await deleteNote(note)
        return viewNote(note)
      }
    )
  }
