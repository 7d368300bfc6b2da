// To-dos of people whom a text mentions. Users who are mentioned by name get them at once, in the transaction of the text. The
// members of groups, who may be thousands, get them by a job.
import type { Fragment } from '../../../access/membership.js'
import { lowerMarks, marks, padded, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { addParticipations } from '../../planning/discussion/noteable-rows.js'
import { mentionedMembers } from '../../planning/participation/mentioned-members.js'
import { readersOf } from './readers.js'
import { addTodos, holdTarget, type TodoTarget } from './todos.js'

export interface Mentions {
  readonly target: TodoTarget
  readonly authorId: number
  /** Names of users and groups, as mentionsOf returns them. */
  readonly names: readonly string[]
  readonly noteId?: number
  readonly cause: string
}

/** How many names one statement looks up. A text has at most 10,000 (MOST_MENTIONS). */
const NAMES = 1000
const MEMBERS = 1000

/**
 * Adds to-dos for the people whom a text mentions and who may read it. Decided: they take part, so the response to the next request
 * says that they are subscribed. Call it inside `transact`.
 */
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
  const { type, ...target } = mention.target
  if (type !== 'Commit' && 'id' in target)
    await addParticipations(
      type,
      userIds.map(userId => ({ id: target.id, userId })),
      target.projectId
    )
  await addTodos({ ...mention, userIds, action: 'mentioned' })
}

/**
 * Adds to-dos for the members of the groups that a text mentions, and with `@all` for those of the project. Members who have
 * written about the target since have read it. A second run adds nothing.
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

/** Returns false when the target no longer exists. */
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

/** Returns the users who wrote a note about the target after the text, which marks their to-dos as done. */
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
