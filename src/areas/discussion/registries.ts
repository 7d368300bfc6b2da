// Fills what the areas below ask for: counts of notes and votes, who takes part, and what goes along when an issue moves.
// Whoever imports this file has them filled.
import './commands/descriptions.js'
import type { Actor } from '../../access/actor.js'
import { projectsOfMember, visibleProjects } from '../../access/membership.js'
import { execute, marks, rows } from '../../db/sql.js'
import { REPORTER } from '../../lib/levels.js'
import type { IssueRow } from '../issues/issues.queries.js'
import { addMoveStep } from '../issues/move.js'
import { addColumn, addParticipation } from '../participation/readings.js'
import { rewriteNotes } from './moved-texts.js'
import { addReferrerReader } from './referrers.queries.js'

addColumn(
  'user_notes_count',
  (type, id) => `(select count(*) from notes o straight_join users v on v.id = o.author_id
    where o.noteable_type = '${type}' and o.noteable_id = ${id} and not o.is_system)`
)

addColumn(
  'votes',
  (type, id) => `(select concat(sum(o.name = 'thumbsup'), ' ', sum(o.name = 'thumbsdown'))
    from award_emoji o straight_join users v on v.id = o.user_id
    where o.awardable_type = '${type}' and o.awardable_id = ${id} and o.name in ('thumbsup', 'thumbsdown'))`
)

addParticipation(
  (type, id) => `exists (select 1 from participants o
    where o.target_type = '${type}' and o.target_id = ${id} and o.user_id = ?)`
)

addReferrerReader('Issue', async (ids, actor: Actor) => {
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
})

addReferrerReader('MergeRequest', async (ids, actor: Actor) => {
  const visible = visibleProjects(actor, REPORTER)
  const found = await rows<{ id: number }>(
    `select m.id from merge_requests m join projects p on p.id = m.target_project_id
     where m.id in (${marks(ids)}) and m.deleted_at is null and p.merge_requests_enabled and ${visible.sql}`,
    [...ids, ...visible.values]
  )
  return found.map(({ id }) => id)
})

// Not specified: mentions in private and internal snippets are shown to nobody.
addReferrerReader('Snippet', async (ids, actor: Actor) => {
  const visible = visibleProjects(actor)
  const found = await rows<{ id: number }>(
    `select s.id from snippets s join projects p on p.id = s.project_id
     where s.id in (${marks(ids)}) and p.snippets_enabled and s.visibility_level = 20 and ${visible.sql}`,
    [...ids, ...visible.values]
  )
  return found.map(({ id }) => id)
})

/** Gives each copied note the awards of the note that it copies: both are in the same order. */
async function copyNoteAwards(from: IssueRow, to: IssueRow): Promise<void> {
  const inOrder = `(select id, author_id, created_at, row_number() over (order by id) as place from notes
    where noteable_type = 'Issue' and noteable_id = ? and not is_system)`
  // The authors and times tell when a note has been deleted in the meantime.
  await execute(
    `insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
     select 'Note', b.id, w.name, w.user_id, w.created_at, w.updated_at from ${inOrder} a
     join ${inOrder} b on b.place = a.place and b.author_id = a.author_id and b.created_at = a.created_at
     join award_emoji w on w.awardable_type = 'Note' and w.awardable_id = a.id order by w.id`,
    [from.id, to.id]
  )
}

// Notes keep their authors and times, and awards their givers. Automatic notes stay with the old issue.
addMoveStep('discussion', async (from, to) => {
  await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, updated_by_id, created_at, updated_at)
     select ?, 'Issue', ?, author_id, note, updated_by_id, created_at, updated_at from notes
     where noteable_type = 'Issue' and noteable_id = ? and not is_system order by id`,
    [to.project_id, to.id, from.id]
  )
  await rewriteNotes(from, to)
  await copyNoteAwards(from, to)
  await execute(
    `insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
     select 'Issue', ?, name, user_id, created_at, updated_at from award_emoji
     where awardable_type = 'Issue' and awardable_id = ? order by id`,
    [to.id, from.id]
  )
  await execute(
    `insert ignore into participants (target_type, target_id, user_id)
     select 'Issue', ?, user_id from participants where target_type = 'Issue' and target_id = ?`,
    [to.id, from.id]
  )
})
