// To-dos of those whom a text mentions. People by their names get theirs at once, in the transaction of the text; the members
// of groups, who may be thousands, by a job.
import type { Fragment } from '../../../access/membership.js'
import { lowerMarks, marks, padded, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { mentionedMembers } from '../../planning/participation/mentioned-members.js'
import { readersOf } from './readers.js'
import { addTodos, holdTarget, type TodoTarget } from './todos.js'

export interface Mentions {
  readonly target: TodoTarget
  readonly authorId: number
  /** Of users and groups, as mentionsOf gives them. */
  readonly names: readonly string[]
  readonly noteId?: number
  readonly cause: string
}

/** Names that one statement looks up. A text has at most 10,000 (MOST_MENTIONS). */
const NAMES = 1000
const MEMBERS = 1000

/** Adds to-dos for the people whom a text mentions and who may read it. Call it inside `transact`. */
export async function mentionPeople({ names, ...mention }: Mentions): Promise<void> {
  if (names.length === 0) return
  const readers = await readersOf(mention.target)
  if (!readers) return
  const userIds: number[] = []
  for (const some of batches(names, NAMES)) {
    const list = padded(some)
    const found = await rows<{ id: number }>(
      `select u.id from users u where u.username_key in (${lowerMarks(list)}) and ${readers.sql}`,
      [...list, ...readers.values]
    )
    userIds.push(...found.map(({ id }) => id))
  }
  await addTodos({ ...mention, userIds, action: 'mentioned' })
}

/**
 * Adds to-dos for the members of the groups that a text mentions, and with `@all` for those of the project. Those who have
 * written about the target since have read it. The second run finds all of them done.
 */
export async function mentionMembers({ names, ...mention }: Mentions, at: Date): Promise<void> {
  if (names.length === 0) return
  const sources = await mentionedMembers(names, mention.authorId, mention.target.projectId)
  if (sources.length === 0) return
  const readers = await readersOf(mention.target)
  if (!readers) return
  for (let after = 0; ; ) {
    const members = await membersAfter(after, sources, readers)
    const last = members.at(-1)
    if (last === undefined) return
    const heard = await writersSince(mention, at, members)
    const added = await addAll({ ...mention, userIds: members.filter(id => !heard.has(id)) })
    if (!added || members.length < MEMBERS) return
    after = last
  }
}

/** Returns false when the target has gone. */
async function addAll(mention: Omit<Mentions, 'names'> & { readonly userIds: readonly number[] }): Promise<boolean> {
  try {
    await transact(async () => {
      await holdTarget(mention.target)
      await addTodos({ ...mention, action: 'mentioned' })
    })
    return true
  } catch (error) {
    if (error instanceof NotFound) return false
    throw error
  }
}

async function membersAfter(after: number, sources: readonly Fragment[], readers: Fragment): Promise<number[]> {
  const found = await rows<{ id: number }>(
    `select u.id from users u where u.id > ? and u.id in (${sources.map(({ sql }) => sql).join(' union ')})
     and ${readers.sql} order by u.id limit ${MEMBERS}`,
    [after, ...sources.flatMap(({ values }) => values), ...readers.values]
  )
  return found.map(({ id }) => id)
}

/** Those of the users who wrote a note about the target after the text: what they wrote makes their to-dos done. */
async function writersSince(
  { target, noteId }: Omit<Mentions, 'names'>,
  at: Date,
  userIds: readonly number[]
): Promise<ReadonlySet<number>> {
  const [of, values] =
    target.type === 'Commit'
      ? ['project_id = ? and commit_id = ?', [target.projectId, target.commitId]]
      : ['noteable_type = ? and noteable_id = ?', [target.type, target.id]]
  const found = await rows<{ author_id: number }>(
    `select distinct author_id from notes where ${of} and not is_system and id > ? and created_at > ?
       and author_id in (${marks(userIds)})`,
    [...values, noteId ?? 0, at, ...userIds]
  )
  return new Set(found.map(({ author_id: id }) => id))
}
