// The forms of a discussion: the same for all kinds of records that have notes, and a simpler one for commits.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, askerOf } from '../../../access/actor.js'
import { giveAward, noteEmoji, removeAward } from '../../../areas/planning/discussion/awards.js'
import { type Awardable, findAward } from '../../../areas/planning/discussion/awards.queries.js'
import { createCommitComment } from '../../../areas/planning/discussion/comments/commit-comments.js'
import { findCommitComment } from '../../../areas/planning/discussion/comments/commit-comments.queries.js'
import { CommentBody, NewCommentParams } from '../../../areas/planning/discussion/comments/commit-comments.schema.js'
import { NOTEABLE_KINDS } from '../../../areas/planning/discussion/kinds/all.js'
import { requireChangeableNote } from '../../../areas/planning/discussion/note-rights.js'
import type { Noteable, NoteableKind } from '../../../areas/planning/discussion/noteables.js'
import {
  createNoteWithCommands,
  deleteNote,
  OnlyCommands,
  updateNote
} from '../../../areas/planning/discussion/notes.js'
import { type NoteRow, placeOfNote, requireNote } from '../../../areas/planning/discussion/notes.queries.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { Invalid, NotFound, Stale } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { versionOf } from '../../../text/versions.js'
import { FORM_LIMIT } from '../form-limit.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { textsHtml } from '../text/texts.js'
import { offeredEmoji } from './awards.js'
import { keptQuery, NOTES, notesPath, pathOf } from './discussion.js'

const target = {
  kind: Type.Enum(NOTEABLE_KINDS.map(({ segment }) => segment)),
  target: Type.Integer()
}
const Target = Type.Object(target)
const OneNote = Type.Object({ ...target, note: Type.Integer() })
const NewNote = Type.Object({
  note: Type.Optional(Type.String()),
  // The button next to the form stands for the command with its name.
  command: Type.Optional(Type.Enum(['close', 'reopen']))
})
const ChangedNote = Type.Object({ note: Type.Optional(Type.String()), version: Type.Optional(Type.String()) })
/** The id of a note, or 0 for the record itself, and an emoji. */
const Award = Type.Optional(Type.String({ pattern: '^\\d{1,10} ([a-z0-9_+-]{1,64})?$' }))
/** `name` is an emoji that the visitor has entered. */
const AwardForm = Type.Object({ give: Award, take: Award, name: Type.Optional(Type.String({ maxLength: 64 })) })

interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
  readonly params: { readonly kind: string; readonly target: number }
}

interface Found {
  readonly kind: NoteableKind
  readonly noteable: Noteable
}

/** Returns the record that the path names. Throws NotFound when the visitor may not read it. */
async function noteableOf({ project, actor, params }: Asked): Promise<Found> {
  const kind = NOTEABLE_KINDS.find(({ segment }) => segment === params.kind)
  const noteable = await kind?.find(project, params.target, actor)
  if (!kind || !noteable) throw new NotFound()
  return { kind, noteable }
}

interface AskedNote extends Asked {
  readonly params: Asked['params'] & { readonly note: number }
}

async function changeableNote(asked: AskedNote) {
  const { project, actor, params } = asked
  const found = await noteableOf(asked)
  const note = await requireChangeableNote(project, found.noteable, params.note, actor)
  if (note.is_system === 1) throw new NotFound('Note')
  return { ...found, note }
}

/** Returns the path of the page that shows a note, or of the record when there is no such note. */
async function pageOf({ project, actor }: Pick<Asked, 'project' | 'actor'>, { kind, noteable }: Found, noteId: number) {
  const record = await recordPath(project, kind, noteable)
  const { place, total } = await placeOfNote(noteable, noteId, actor)
  if (place === 0) return record
  const page = Math.ceil(place / NOTES)
  const isNewest = page === Math.max(1, Math.ceil(total / NOTES))
  return `${record}${isNewest ? '' : `?page=${page}`}#note_${noteId}`
}

const recordPath = async (project: ProjectRow, kind: NoteableKind, { id }: Noteable) =>
  `${projectPath(project)}/${await kind.page(id)}`

export const notePages: FastifyPluginAsyncTypebox = async app => {
  const base = '/:namespace/:project/notes/:kind/:target'
  const write = { can: 'note.write' as const }

  app.post(
    base,
    { config: write, bodyLimit: FORM_LIMIT, schema: { params: Target, body: NewNote } },
    async (request, reply) => {
      const found = await noteableOf(request)
      const { note = '', command } = request.body
      const body = command ? `${note}\n\n/${command}` : note
      try {
        return reply.redirect(await pageOfNew(request, found, body), 303)
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        return showForm(request, reply.code(400), found, { text: note, problem: error.message })
      }
    }
  )

  // The page with a note, wherever it is in a long stream. The script asks for notes that are not on the page that it runs on.
  app.get(`${base}/:note`, { config: { can: 'note.read' }, schema: { params: OneNote } }, async (request, reply) =>
    reply.redirect(await pageOf(request, await noteableOf(request), request.params.note))
  )

  app.get(
    `${base}/:note/whole`,
    { config: { can: 'note.read' }, schema: { params: OneNote } },
    async (request, reply) => {
      const found = await noteableOf(request)
      const note = await requireNote(found.noteable, request.params.note, request.actor)
      return showWhole(request, reply, note, await pageOf(request, found, note.id))
    }
  )

  app.get(`${base}/:note/edit`, { config: write, schema: { params: OneNote } }, async (request, reply) => {
    const found = await changeableNote(request)
    return showForm(request, reply, found, { text: found.note.note, note: found.note })
  })

  app.post(
    `${base}/:note`,
    { config: write, bodyLimit: FORM_LIMIT, schema: { params: OneNote, body: ChangedNote } },
    async (request, reply) => {
      const found = await changeableNote(request)
      const { note: text = '', version } = request.body
      try {
        await updateNote(found.note, { body: text }, request.actor, version)
        return reply.redirect(await pageOf(request, found, found.note.id), 303)
      } catch (error) {
        if (error instanceof Stale) return showStale(request, reply, found, text)
        if (!(error instanceof Invalid)) throw error
        return showForm(request, reply.code(400), found, { text, note: found.note, version, problem: error.message })
      }
    }
  )

  app.post(`${base}/:note/delete`, { config: write, schema: { params: OneNote } }, async (request, reply) => {
    const { kind, noteable, note } = await changeableNote(request)
    await deleteNote(note)
    return reply.redirect(await recordPath(request.project, kind, noteable), 303)
  })

  app.get(
    `${base}/:note/awards`,
    { config: { can: 'award.write' }, schema: { params: OneNote } },
    async (request, reply) => {
      const found = await noteableOf(request)
      const { note } = request.params
      const { authorId } = await awardableOf(request, found, note)
      return show(request, reply, 'planning/react', {
        title: 'React',
        action: `${notesPath(request.project, found.noteable.type, found.noteable.id)}/awards`,
        note,
        offered: offeredEmoji(authorId, request.actor),
        back:
          note === 0
            ? await recordPath(request.project, found.kind, found.noteable)
            : await pageOf(request, found, note)
      })
    }
  )

  app.post(
    `${base}/awards`,
    { config: { can: 'award.write' }, schema: { params: Target, body: AwardForm } },
    async (request, reply) => {
      const found = await noteableOf(request)
      const [id = '0', name = ''] = (request.body.give ?? request.body.take ?? '').split(' ')
      const noteId = Number(id)
      await award(request, await awardableOf(request, found, noteId), request.body.name ?? name)
      return reply.redirect(await pageOf(request, found, noteId), 303)
    }
  )

  app.get(
    '/:namespace/:project/commit/:sha/notes/:note/whole',
    { config: { can: 'commit.read' }, schema: { params: CommitNote } },
    async (request, reply) => {
      const { project, params } = request
      const comment = await findCommitComment(params.note)
      if (!comment || comment.project_id !== project.id || comment.sha !== params.sha) throw new NotFound('Note')
      return showWhole(request, reply, comment, `${projectPath(project)}/commit/${comment.sha}#note_${comment.id}`)
    }
  )

  app.post(
    '/:namespace/:project/commit/:sha/notes',
    { config: { can: 'commit.comment' }, bodyLimit: FORM_LIMIT, schema: { params: CommitParams, body: CommentBody } },
    async (request, reply) => {
      const { project, params, body, origin } = request
      const made = await createCommitComment(project, params.sha, body, origin)
      return reply.redirect(`${projectPath(project)}/commit/${made.sha}#note_${made.id}`, 303)
    }
  )
}

interface Written {
  readonly note: string
  readonly author_name: string
  readonly author_username: string
  readonly created_at: Date
}

/** Shows a note that is too long for the page of its discussion. */
async function showWhole(request: FastifyRequest, reply: FastifyReply, note: Written, back: string) {
  const [html] = await textsHtml([note.note], request)
  const author = { name: note.author_name, username: note.author_username }
  return show(request, reply, 'planning/whole-note', {
    title: 'Comment',
    html,
    author,
    createdAt: note.created_at,
    back
  })
}

const sha = { sha: NewCommentParams.properties.sha }
const CommitParams = Type.Object(sha)
const CommitNote = Type.Object({ ...sha, note: Type.Integer() })

/** Writes a note, and returns the path of the page that shows it, or of the record when it has become commands or an award. */
async function pageOfNew(request: FastifyRequest & Asked, found: Found, body: string): Promise<string> {
  const { project, actor } = request
  const record = () => recordPath(project, found.kind, found.noteable)
  if (await noteEmoji(found.noteable, body, actor)) return record()
  try {
    const made = await createNoteWithCommands(project, found.noteable, { body }, request)
    const query = found.noteable.type === 'Snippet' ? '' : keptQuery(made, '?')
    return `${await record()}${query}#note_${made.id}`
  } catch (error) {
    if (error instanceof OnlyCommands) return record()
    throw error
  }
}

/** Returns the note, or the record itself for 0. */
async function awardableOf({ actor }: Asked, { noteable }: Found, noteId: number): Promise<Awardable> {
  if (noteId === 0) return noteable
  const { id, author_id: authorId } = await requireNote(noteable, noteId, actor)
  return { type: 'Note', id, authorId }
}

/** Gives an emoji or takes it back. A form that is sent twice changes nothing more. */
async function award(request: FastifyRequest, awardable: Awardable, name: string): Promise<void> {
  const { give } = request.body as { give?: string }
  const known = await findAward(awardable, name, askerOf(request.actor).id)
  if (give !== undefined && !known) await giveAward(awardable, name, request.actor)
  if (give === undefined && known) await removeAward(known, request.project.id)
}

interface Form {
  readonly text: string
  /** The note that is changed. */
  readonly note?: NoteRow
  readonly version?: string | undefined
  readonly problem?: string
  /** What the note has become in the meantime. */
  readonly current?: string
}

async function showForm(
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, noteable }: Found,
  { note, version = note && versionOf(note.note), ...form }: Form
): Promise<FastifyReply> {
  const base = notesPath(request.project, noteable.type, noteable.id)
  const record = await recordPath(request.project, kind, noteable)
  return show(request, reply, 'planning/note', {
    title: note ? 'Edit a comment' : 'Comment',
    action: note ? `${base}/${note.id}` : base,
    isNew: !note,
    project: pathOf(request.project),
    back: note ? `${record}#note_${note.id}` : record,
    version,
    ...form
  })
}

/** Shows both texts, so that the visitor can join them. */
async function showStale(
  request: FastifyRequest & AskedNote,
  reply: FastifyReply,
  found: Found,
  text: string
): Promise<FastifyReply> {
  const note = await requireNote(found.noteable, request.params.note, request.actor)
  return showForm(request, reply.code(409), found, { text, note, current: note.note })
}
