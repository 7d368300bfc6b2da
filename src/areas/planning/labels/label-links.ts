// The labels of an issue or a merge request.

import { execute, marks, rows } from '../../../db/connect/sql.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { Invalid } from '../../../errors.js'
import { TARGET_TABLES, type TargetType } from '../participation/targets.js'
import { DEFAULT_COLOR, titleProblem } from './label-rules.js'
import { requireRoom } from './labels.js'
import { findLabels, type LabelPlace } from './labels.queries.js'

/** The maximum number of labels of an issue or merge request. Not specified: a limit. */
const MOST_OF_TARGET = 100

/** Reads titles as clients send them, separated by commas. Throws Invalid for a title that no label can have, and for too many titles. */
export function readTitles(text: string): string[] {
  const titles = [...new Set(text.split(',').map(title => title.trim()))].filter(title => title !== '')
  for (const title of titles) {
    const problem = titleProblem(title)
    if (problem !== null) throw new Invalid('labels', problem)
  }
  requireFew(titles)
  return titles
}

function requireFew(titles: readonly string[]): void {
  if (titles.length > MOST_OF_TARGET) throw new Invalid('labels', `are too many (maximum is ${MOST_OF_TARGET})`)
}

/** Returns the new titles of the labels of a target, from the old ones. */
export type LabelEdit = (titles: readonly string[]) => readonly string[]

/**
 * Returns the titles of the labels of a target after an edit. The row of the target must be locked. Throws Invalid when
 * they are too many.
 */
export async function editedTitles(type: TargetType, id: number, edit: LabelEdit): Promise<readonly string[]> {
  const titles = edit(await readLabelTitles(type, id))
  requireFew(titles)
  return titles
}

/**
 * Returns the ids of the labels with these titles in a project. Creates missing labels if `create` is set, and
 * otherwise leaves them out. Call it inside `transact`, with the project held (`holdProject`). Throws Invalid when the
 * project would have too many labels.
 */
export async function labelsFor(
  project: LabelPlace,
  titles: readonly string[],
  { create }: { readonly create: boolean }
): Promise<number[]> {
  const known = await findLabels(project, titles)
  const missing = titles.filter(title => !known.has(title))
  if (missing.length === 0 || !create) return [...known.values()].map(({ id }) => id)
  await requireRoom('project_id', project.id, missing.length)
  const now = new Date()
  // Sorted, so that two requests that create the same labels do not wait for each other.
  const inserted = missing.sort()
  // Another request may create them at the same moment.
  await execute(
    `insert ignore into labels (project_id, title, color, created_at, updated_at)
     values ${inserted.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
    inserted.flatMap(title => [project.id, title, DEFAULT_COLOR, now, now]),
    project.id
  )
  const found = await findLabels(project, titles)
  return [...found.values()].map(({ id }) => id)
}

/** An issue or merge request, with its project. */
interface LabelTarget {
  readonly id: number
  readonly projectId: number
}

export interface LabelChanges {
  /** The ids of the labels. */
  readonly added: readonly number[]
  readonly removed: readonly number[]
}

/** Replaces the labels of a target in a project with these. Call it inside `transact`, with the row of the target locked. */
export async function replaceLabels(
  type: TargetType,
  { id: targetId, projectId }: LabelTarget,
  labelIds: readonly number[]
): Promise<LabelChanges> {
  const before = await labelIdsOf(type, targetId)
  const removed = before.filter(id => !labelIds.includes(id))
  const added = labelIds.filter(id => !before.includes(id))
  if (removed.length > 0) {
    await execute(
      `delete from label_links where target_type = ? and target_id = ? and label_id in (${marks(removed)})`,
      [type, targetId, ...removed],
      projectId
    )
    moved(type)
  }
  await addLabels(type, { id: targetId, projectId }, added)
  return { added, removed }
}

const PROJECT: { readonly [Type in TargetType]: string } = { Issue: 'project_id', MergeRequest: 'target_project_id' }

/**
 * Adds labels to a target. The links contain copies of its project, author and creation time, none of which
 * ever changes, so that an index of the links has the targets in order. Call it inside `transact`.
 */
export async function addLabels(
  type: TargetType,
  { id: targetId, projectId }: LabelTarget,
  labelIds: readonly number[]
): Promise<void> {
  if (labelIds.length === 0) return
  // A label may be deleted at this moment: only labels that still exist are linked.
  await execute(
    `insert ignore into label_links (target_type, target_id, label_id, of_project, of_author, of_created_at)
     select ?, t.id, l.id, t.${PROJECT[type]}, t.author_id, t.created_at from ${TARGET_TABLES[type]} t join labels l
     where t.id = ? and l.id in (${marks(labelIds)})`,
    [type, targetId, ...labelIds],
    projectId
  )
  moved(type)
}

/** Returns the ids of the labels of a target. */
async function labelIdsOf(type: TargetType, targetId: number): Promise<number[]> {
  const found = await rows<{ label_id: number }>(
    'select label_id from label_links where target_type = ? and target_id = ?',
    [type, targetId]
  )
  return found.map(({ label_id: id }) => id)
}

/** Returns the titles of the labels of a target. */
export async function readLabelTitles(type: TargetType, id: number): Promise<string[]> {
  const found = await rows<{ title: string }>(
    `select l.title from label_links k straight_join labels l on l.id = k.label_id
     where k.target_type = ? and k.target_id = ? order by l.title`,
    [type, id]
  )
  return found.map(({ title }) => title)
}
