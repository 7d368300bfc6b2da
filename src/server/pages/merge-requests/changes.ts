// The changes of a merge request, or of one of its versions, with the notes about their lines.
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { lineNotesAt } from '../../../areas/planning/discussion/line-notes.js'
import { mayChangeNote } from '../../../areas/planning/discussion/note-rights.js'
import { listLineNotes, type NoteRow } from '../../../areas/planning/discussion/notes.queries.js'
import { readPatches } from '../../../areas/planning/merge-requests/versions/changes.js'
import { requireVersion, type VersionRow } from '../../../areas/planning/merge-requests/versions/versions.queries.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { repositoryPath } from '../../../areas/projects/projects/repositories.js'
import { type Static, Type } from '../../../lib/type.js'
import type { DiffLine, ShownFile } from '../../../text/diff.js'
import { DiffQuery, diffPart, queryOf } from '../code/diff.js'
import { lineId } from '../code/diff-rows.js'
import { inPath } from '../components.js'
import { renderPart } from '../page.js'
import { formToken } from '../page-routes.js'
import { projectPath } from '../place.js'
import { isKept, linesNotRun, notesPath, pathOf } from '../planning/discussion.js'
import { textsHtml } from '../text/texts.js'
import { type Head, readHead } from './head.js'

export const ChangesQuery = Type.Object({
  ...DiffQuery,
  version: Type.Optional(Type.Integer()),
  // The id of the line that gets a note.
  note: Type.Optional(Type.String({ maxLength: 64 })),
  // The id of a new note whose commands did nothing.
  kept: Type.Optional(Type.Integer())
})
export type ChangesQuery = Static<typeof ChangesQuery>

interface Asked extends FastifyRequest {
  readonly params: { readonly iid: number }
  readonly query: ChangesQuery
}

export async function readChangesTab(request: Asked) {
  const { project, query, actor } = request
  const head = await readHead(request, 'diffs', async ({ id }) => ({ lineNotes: await listLineNotes(id) }))
  const { versions } = head
  const version = query.version === undefined ? head.version : await requireVersion(head.found.id, query.version)
  const changes = await readPatches(project, version)
  const { patches } = changes
  const notes = version ? await lineNotesAt(project, head.more.lineNotes, version, { versions, patches }) : []
  const chosen = query.version === undefined ? '' : `version=${query.version}&`
  const mayWrite = may(actor, 'note.write', project) && version?.id === head.version?.id
  const part = await diffPart(changes, query, {
    repository: repositoryPath(project),
    page: `${head.base}/diffs?${chosen}`,
    ...(version && may(actor, 'file.read', project) && { fileAt: fileAt(project, version) }),
    notesOf: await notesOf(request, head, notes, mayWrite),
    ...(mayWrite && { noted: 'all' })
  })
  return { ...head, part, shown: version }
}

/** Returns the notes below the lines of a file, and the form for another one below the line that the query names. */
async function notesOf(request: Asked, { base, found }: Head, notes: readonly NoteRow[], mayWrite: boolean) {
  const { project, actor, query } = request
  const texts = await textsHtml(
    notes.map(({ note }) => note),
    request
  )
  const shown = notes.map((note, at) => ({
    ...note,
    html: texts[at] ?? '',
    mayEdit: mayChangeNote(note, project, actor),
    notRun: isKept(query, note.id) ? linesNotRun(note.note) : []
  }))
  const byFile = Map.groupBy(shown, ({ path }) => path)
  const asked = mayWrite ? query.note : undefined
  return (file: ShownFile) => {
    const all = byFile.get(file.path) ?? []
    if (all.length === 0 && !asked?.startsWith(file.anchor)) return null
    const placed = Map.groupBy(all, note => `${note.line_type} ${note.line}`)
    return (line: DiffLine): string => {
      const [side, number] = line.kind === 'removed' ? (['old', line.old] as const) : (['new', line.new] as const)
      const here = placed.get(`${side} ${number}`) ?? []
      const isAsked = asked === lineId(file, line)
      if (here.length === 0 && !isAsked) return ''
      return renderPart('merge-requests/line-notes', {
        notes: here,
        notesBase: notesPath(project, 'MergeRequest', found.id),
        form: isAsked && {
          ...{ base, head: found.head_sha, path: file.path, line: number, side, query },
          ...{ project: pathOf(project), back: `${base}/diffs?${queryOf(query)}#${query.note}` }
        },
        formToken: isAsked ? formToken(request) : undefined
      })
    }
  }
}

/** Returns the page of a file before or after the changes. The repository of the target has all commits of all versions. */
const fileAt =
  (project: ProjectRow, { head_sha: head, base_sha: base, start_sha: start }: VersionRow) =>
  (file: ShownFile, side: 'old' | 'new'): string | null => {
    const commit = side === 'new' ? head : (base ?? start)
    const name = side === 'new' ? file.path : file.oldPath
    return commit === null ? null : `${projectPath(project)}/blob/${commit}/${inPath(name)}`
  }
