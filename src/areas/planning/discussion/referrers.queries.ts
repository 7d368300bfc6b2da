// Automatic notes name the place of a mention. Users who may not see that place must not learn about it.
import type { Actor } from '../../../access/actor.js'
import { type Fragment, projectsOfMember, visibleProjects } from '../../../access/membership.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { GUEST, type Level, REPORTER } from '../../../lib/levels.js'

export interface Referring {
  readonly refers_type: 'Issue' | 'MergeRequest' | 'Commit' | 'Snippet' | null
  readonly refers_id: number | null
  readonly refers_project_id: number | null
}

type Reader = (ids: readonly number[], actor: Actor) => Promise<readonly number[]>

/** For each type, finds the referring records that a caller may read, with one statement for all of them. */
const READERS = {
  Issue: readableIssueIds,
  MergeRequest: readableMergeRequestIds,
  Snippet: readableSnippetIds
} as const satisfies { readonly [type: string]: Reader }

/** Returns a function that tests whether the caller may read what a note refers to. Runs one statement for each type in the list. */
export async function readableReferrers(
  notes: readonly Referring[],
  actor: Actor
): Promise<(note: Referring) => boolean> {
  const readable = new Map<string, ReadonlySet<number>>()
  for (const type of ['Issue', 'MergeRequest', 'Snippet'] as const) {
    const ids = notes.flatMap(note => (note.refers_type === type && note.refers_id !== null ? [note.refers_id] : []))
    if (ids.length > 0) readable.set(type, new Set(await READERS[type]([...new Set(ids)], actor)))
  }
  const projects = notes.flatMap(({ refers_type: type, refers_project_id: id }) =>
    type === 'Commit' && id !== null ? [id] : []
  )
  if (projects.length > 0)
    readable.set('Commit', new Set(await readableProjects([...new Set(projects)], actor, REPORTER)))
  return ({ refers_type: type, refers_id: id, refers_project_id: projectId }) =>
    type !== null && (readable.get(type)?.has((type === 'Commit' ? projectId : id) ?? 0) ?? false)
}

/**
 * Returns the projects, of those with these ids, that the caller may see; with `least`, only those that are open to the
 * caller without a membership, or in which the caller has this level.
 */
async function readableProjects(
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

async function readableIssueIds(ids: readonly number[], actor: Actor): Promise<readonly number[]> {
  const visible = visibleProjects(actor)
  const userId = actor.user?.id ?? 0
  const mine = projectsOfMember(userId)
  const secrets = actor.user?.admin
    ? { sql: '', values: [] }
    : {
        sql: ` and (not i.confidential or i.author_id = ? or i.assignee_id = ?
          or i.project_id in (select mine.id from (${mine.sql}) mine where mine.level >= ${REPORTER}))`,
        values: [userId, userId, ...mine.values]
      }
  const found = await rows<{ id: number }>(
    `select i.id from issues i join projects p on p.id = i.project_id
     where i.id in (${marks(ids)}) and p.issues_enabled and ${visible.sql}${secrets.sql}`,
    [...ids, ...visible.values, ...secrets.values]
  )
  return found.map(({ id }) => id)
}

async function readableMergeRequestIds(ids: readonly number[], actor: Actor): Promise<readonly number[]> {
  const visible = visibleProjects(actor, REPORTER)
  const found = await rows<{ id: number }>(
    `select m.id from merge_requests m join projects p on p.id = m.target_project_id
     where m.id in (${marks(ids)}) and m.deleted_at is null and p.merge_requests_enabled and ${visible.sql}`,
    [...ids, ...visible.values]
  )
  return found.map(({ id }) => id)
}

// Not specified: mentions in private and internal snippets are not shown to anyone.
async function readableSnippetIds(ids: readonly number[], actor: Actor): Promise<readonly number[]> {
  const visible = visibleProjects(actor)
  const found = await rows<{ id: number }>(
    `select s.id from snippets s join projects p on p.id = s.project_id
     where s.id in (${marks(ids)}) and p.snippets_enabled and s.visibility_level = 20 and ${visible.sql}`,
    [...ids, ...visible.values]
  )
  return found.map(({ id }) => id)
}
