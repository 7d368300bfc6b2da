// Emoji that people give to issues, merge requests, snippets and notes.
import { type Actor, askerOf } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { emojiName, emojiOf } from '../../../text/emoji.js'
import { publishInTransaction } from '../../ground/activity/events.js'
import { holdUser } from '../../people/users/users.queries.js'
import { type Awardable, type AwardRow, findAward } from './awards.queries.js'
import type { Noteable } from './noteables.js'

/** The tables, with their columns for the project. */
const ROWS: { readonly [Type in Awardable['type']]: { readonly table: string; readonly project: string } } = {
  Issue: { table: 'issues', project: 'project_id' },
  MergeRequest: { table: 'merge_requests', project: 'target_project_id' },
  Snippet: { table: 'snippets', project: 'project_id' },
  Note: { table: 'notes', project: 'project_id' }
}

/** Votes: records show their number, and users cannot vote for their own records. */
const VOTES = new Set(['thumbsup', 'thumbsdown'])

/** Whether an emoji with this name is a vote of the user for the user's own record. */
export const isOwnVote = (name: string, { authorId }: { readonly authorId: number }, userId: number | undefined) =>
  VOTES.has(name) && authorId === userId

/** Gives an emoji to something. Throws NotFound, as the requirement specifies, for emoji that cannot be given. */
export async function giveAward(awardable: Awardable, asked: string, actor: Actor): Promise<AwardRow> {
  const name = emojiName(asked)
  if (!name) throw new NotFound('Award Emoji {:name=>["is not a valid emoji name"]}')
  if (isOwnVote(name, awardable, actor.user?.id)) throw new NotFound('Award Emoji')
  const user = askerOf(actor)
  try {
    await insert(awardable, name, user.id)
  } catch (error) {
    if (duplicateKey(error) !== 'award_emoji_name') throw error
    throw new NotFound('Award Emoji {:name=>["has already been taken"]}')
  }
  return given(awardable, name, user.id)
}

/**
 * Returns the award for a note whose text is only an emoji; undefined for other texts, and for a vote for one's own
 * record, which stays a note. Not specified: the second time, the caller gets the award from the first time.
 */
export async function awardByNote(noteable: Noteable, text: string, actor: Actor): Promise<AwardRow | undefined> {
  const name = emojiOf(text)
  if (!name || isOwnVote(name, noteable, actor.user?.id)) return undefined
  const { id: userId } = askerOf(actor)
  const known = await findAward(noteable, name, userId)
  if (known) return known
  try {
    await insert(noteable, name, userId)
  } catch (error) {
    if (duplicateKey(error) !== 'award_emoji_name') throw error
  }
  return given(noteable, name, userId)
}

/** Does the same for the route of notes: an award counts as a note for everything that reacts to new notes immediately. */
export async function noteEmoji(noteable: Noteable, text: string, actor: Actor): Promise<AwardRow | undefined> {
  if (!emojiOf(text)) return undefined
  return transact(async () => {
    const award = await awardByNote(noteable, text, actor)
    if (award) await publishInTransaction({ kind: 'emoji.noted', target: noteable, by: askerOf(actor).id })
    return award
  })
}

async function insert({ type, id }: Awardable, name: string, userId: number): Promise<void> {
  await transact(async () => {
    await holdUser(userId)
    const { table, project } = ROWS[type]
    const held = await row<{ project_id: number }>(
      `select ${project} as project_id from ${table} where id = ? lock in share mode`,
      [id]
    )
    if (!held) throw new NotFound('Award Emoji')
    const now = new Date()
    await execute(
      'insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at) values (?, ?, ?, ?, ?, ?)',
      [type, id, name, userId, now, now],
      held.project_id
    )
  })
}

async function given(awardable: Awardable, name: string, userId: number): Promise<AwardRow> {
  const found = await findAward(awardable, name, userId)
  if (!found) throw new NotFound('Award Emoji')
  return found
}

/** Removes an award in a project. Throws NotFound when another request already removed it. */
export async function removeAward({ id }: AwardRow, projectId: number): Promise<void> {
  const { affectedRows } = await execute('delete from award_emoji where id = ?', [id], projectId)
  if (affectedRows === 0) throw new NotFound('Award Emoji')
}
