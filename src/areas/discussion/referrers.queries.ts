// Automatic notes say where something was mentioned. Who may not see that place must not learn of it.
import type { Actor } from '../../access/actor.js'
import { type Fragment, visibleProjects } from '../../access/membership.js'
import { marks, rows } from '../../db/sql.js'
import { GUEST, type Level, REPORTER } from '../../lib/levels.js'

export interface Referring {
  readonly refers_type: 'Issue' | 'MergeRequest' | 'Commit' | 'Snippet' | null
  readonly refers_id: number | null
  readonly refers_project_id: number | null
}

type Reader = (ids: readonly number[], actor: Actor) => Promise<readonly number[]>

const readers = new Map<string, Reader>()

/** Says which of the referring things of a type an asker may read. At most one statement for all of them. */
export const addReferrerReader = (type: 'Issue' | 'MergeRequest' | 'Snippet', reader: Reader): void =>
  void readers.set(type, reader)

/** Returns a test whether the asker may read what a note refers to. One statement for each type in the list. */
export async function readableReferrers(
  notes: readonly Referring[],
  actor: Actor
): Promise<(note: Referring) => boolean> {
  const readable = new Map<string, ReadonlySet<number>>()
  for (const type of ['Issue', 'MergeRequest', 'Snippet'] as const) {
    const ids = notes.flatMap(note => (note.refers_type === type && note.refers_id !== null ? [note.refers_id] : []))
    if (ids.length > 0) readable.set(type, new Set((await readers.get(type)?.([...new Set(ids)], actor)) ?? []))
  }
  const projects = notes.flatMap(({ refers_type: type, refers_project_id: id }) =>
    type === 'Commit' && id !== null ? [id] : []
  )
  if (projects.length > 0)
    readable.set('Commit', new Set(await readableProjects([...new Set(projects)], actor, REPORTER)))
  return ({ refers_type: type, refers_id: id, refers_project_id: projectId }) =>
    type !== null && (readable.get(type)?.has((type === 'Commit' ? projectId : id) ?? 0) ?? false)
}

/** Returns those of the projects that the asker may see; with `least`, as a stranger may or with this level. */
export async function readableProjects(
  ids: readonly number[],
  actor: Actor,
  least: Level = GUEST
): Promise<readonly number[]> {
  const visible: Fragment = visibleProjects(actor, least)
  const found = await rows<{ id: number }>(
    `select p.id from projects p where p.id in (${marks(ids)}) and ${visible.sql}`,
    [...ids, ...visible.values]
  )
  return found.map(({ id }) => id)
}
