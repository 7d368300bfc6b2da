// Fills what the areas below ask for: counts of notes and votes, who takes part, and what goes along when an issue moves.
// Whoever imports this file has them filled.
import './commands/descriptions.js'
import type { Actor } from '../../access/actor.js'
import { projectsOfMember, visibleProjects } from '../../access/membership.js'
import { execute, marks, padded, rows } from '../../db/sql.js'
import { REPORTER } from '../../lib/levels.js'
import { addMoveStep } from '../issues/move.js'
import { addParticipation, addReading } from '../participation/readings.js'
import { rewriteNotes } from './moved-texts.js'
import { addReferrerReader } from './referrers.queries.js'

addReading(
  ids => `select n.noteable_id as id, 'user_notes_count' as kind, count(*) as count
    from notes n straight_join users u on u.id = n.author_id
    where n.noteable_type = ? and n.noteable_id in (${ids}) and not n.is_system group by n.noteable_id`
)

addReading(
  ids => `select w.awardable_id as id, if(w.name = 'thumbsup', 'upvotes', 'downvotes') as kind, count(*) as count
    from award_emoji w straight_join users u on u.id = w.user_id
    where w.awardable_type = ? and w.awardable_id in (${ids}) and w.name in ('thumbsup', 'thumbsdown')
    group by w.awardable_id, w.name`
)

addParticipation(async (type, ids, userId) => {
  const list = padded(ids)
  const found = await rows<{ id: number }>(
    `select target_id as id from participants where target_type = ? and target_id in (${marks(list)}) and user_id = ?`,
    [type, ...list, userId]
  )
  return new Set(found.map(({ id }) => id))
})

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

// Notes keep their authors and times, and awards their givers. Automatic notes stay with the old issue.
addMoveStep('discussion', async (from, to) => {
  await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, updated_by_id, created_at, updated_at)
     select ?, 'Issue', ?, author_id, note, updated_by_id, created_at, updated_at from notes
     where noteable_type = 'Issue' and noteable_id = ? and not is_system order by id`,
    [to.project_id, to.id, from.id]
  )
  await rewriteNotes(from, to)
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
