// Notes about lines of the changes of a merge request. A note belongs to the version that was the newest one when it was written, and is
// also shown at later versions that change its file in the same way. Not specified: these notes. The API has them as any other note, with
// their place.
import type { Actor, Origin } from '../../../access/actor.js'
import { Invalid, Stale } from '../../../errors.js'
import type { Patch } from '../../../git/history/patches.js'
import { linesTo } from '../../../text/diff-excerpts.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { MergeRequestRow } from '../merge-requests/merge-requests.queries.js'
import { readPatches } from '../merge-requests/versions/changes.js'
import { latestVersion, listVersions, type VersionRow } from '../merge-requests/versions/versions.queries.js'
import { createNoteWithCommands, type NotedLine } from './notes.js'
import type { NoteRow } from './notes.queries.js'

interface NewLineNote extends NotedLine {
  readonly body: string
  /** The newest commit of the changes that the user has read. */
  readonly head: string
}

/** Writes a note about a line. Throws what other notes throw, Stale after a push, and Invalid for a line that the changes do not show. */
export async function createLineNote(
  project: ProjectRow,
  found: MergeRequestRow,
  { body, head, ...place }: NewLineNote,
  by: { readonly actor: Actor; readonly origin: Origin }
): Promise<NoteRow> {
  const version = await latestVersion(found.id)
  if (version?.head_sha !== head) throw new Stale()
  const { patches } = await readPatches(project, version)
  const patch = patches.find(({ newPath }) => newPath === place.path)
  if (!patch || linesTo(patch.text, place.side, place.line) === null) {
    throw new Invalid('line', 'is not part of the changes')
  }
  const noteable = { type: 'MergeRequest', id: found.id, authorId: found.author_id, confidential: false } as const
  return createNoteWithCommands(project, noteable, { body, place }, by)
}

/** Returns the version to which a note belongs, of the versions of its merge request, newest first. */
export const versionOfNote = <Version extends Pick<VersionRow, 'created_at'>>(
  { created_at: at }: Pick<NoteRow, 'created_at'>,
  versions: readonly Version[]
): Version | undefined => versions.find(({ created_at: made }) => made <= at) ?? versions.at(-1)

/** Returns the line that a note is about, with the lines before it, as its version shows them; null when it is gone. */
export async function notedLines(project: ProjectRow, note: NoteRow): Promise<string | null> {
  if (note.noteable_id === null || note.path === null || note.line === null) return null
  const version = versionOfNote(note, await listVersions(note.noteable_id))
  if (!version) return null
  const { patches } = await readPatches(project, version)
  const patch = patches.find(({ newPath }) => newPath === note.path)
  return patch ? linesTo(patch.text, note.line_type === 'old' ? 'old' : 'new', note.line) : null
}

/** How many other versions are compared with the one that is shown. */
const MOST_VERSIONS = 5

/** Returns those of the notes about lines (`listLineNotes`) that a version shows, with `patches`, its changes. */
export async function lineNotesAt(
  project: ProjectRow,
  all: readonly NoteRow[],
  shown: VersionRow,
  { versions, patches }: { readonly versions: readonly VersionRow[]; readonly patches: readonly Patch[] }
): Promise<NoteRow[]> {
  const notes = all.map(note => ({ note, version: versionOfNote(note, versions) }))
  const others = [...new Set(notes.flatMap(({ version }) => (version && version.id !== shown.id ? [version] : [])))]
  const changes = await Promise.all(
    others
      .slice(-MOST_VERSIONS)
      .map(async version => [version.id, textsOf((await readPatches(project, version)).patches)] as const)
  )
  const known = new Map([...changes, [shown.id, textsOf(patches)] as const])
  const isSame = ({ note, version }: (typeof notes)[number]) => {
    const text = known.get(version?.id ?? 0)?.get(note.path ?? '')
    return text !== undefined && text === known.get(shown.id)?.get(note.path ?? '')
  }
  return notes.filter(isSame).map(({ note }) => note)
}

const textsOf = (patches: readonly Patch[]) => new Map(patches.map(({ newPath, text }) => [newPath, text]))
