// Moves the notes, awards and participants of an issue with it. In the texts, `#1` becomes `group/project#1`.
import { execute, rows } from '../../../db/connect/sql.js'
import { readWithProject } from '../../../text/reading.js'
import type { IssueRow } from '../issues/issues.queries.js'
import type { moveSteps } from '../issues/move.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'

const PAGE = 100
/** The maximum number of characters of the notes of one issue that are rewritten. Not specified: a limit. Later notes keep their text. */
const MOST_READ = 1_000_000

export const discussionMoves: Awaited<ReturnType<typeof moveSteps>> = {
  rewrite: async (text, from) => (await rewritten([text], `${from.namespace_path}/${from.path}`))[0] ?? text,
  copy: copyDiscussion
}

/** Returns the rewritten texts, and the original one where the result would be too long. */
async function rewritten(texts: readonly string[], path: string): Promise<string[]> {
  const moved = await readWithProject(texts, path)
  return texts.map((text, at) => {
    const after = moved[at] ?? text
    return after.length > LONGEST_DESCRIPTION ? text : after
  })
}

/** Rewrites the notes that moved with an issue. Call it in the transaction of the move. */
async function rewriteNotes(from: IssueRow, to: IssueRow): Promise<void> {
  const [project] = await rows<{ path: string }>(
    "select concat(n.path, '/', p.path) as path from projects p join namespaces n on n.id = p.namespace_id where p.id = ?",
    [from.project_id]
  )
  if (!project) return
  let [last, read] = [0, 0]
  for (;;) {
    const page = await rows<{ id: number; note: string }>(
      `select id, note from notes where noteable_type = 'Issue' and noteable_id = ? and id > ? and note regexp '[#!$~%]'
       order by id limit ${PAGE}`,
      [to.id, last]
    )
    const some = page.filter(({ note }) => {
      read += note.length
      return read <= MOST_READ
    })
    const texts = some.map(({ note }) => note)
    const moved = await rewritten(texts, project.path)
    for (const [at, { id, note }] of some.entries()) {
      if (moved[at] !== note)
        await execute('update notes set note = ? where id = ?', [moved[at] ?? note, id], to.project_id)
    }
    if (page.length < PAGE || read > MOST_READ) return
    last = page.at(-1)?.id ?? 0
  }
}

/** Copies the awards of each copied note: both sets of notes are in the same order. */
async function copyNoteAwards(from: IssueRow, to: IssueRow): Promise<void> {
  const inOrder = `(select id, author_id, created_at, row_number() over (order by id) as place from notes
    where noteable_type = 'Issue' and noteable_id = ? and not is_system)`
  // Authors and times must match too, in case a note was deleted in the meantime.
  await execute(
    `insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
     select 'Note', b.id, w.name, w.user_id, w.created_at, w.updated_at from ${inOrder} a
     join ${inOrder} b on b.place = a.place and b.author_id = a.author_id and b.created_at = a.created_at
     join award_emoji w on w.awardable_type = 'Note' and w.awardable_id = a.id order by w.id`,
    [from.id, to.id],
    to.project_id
  )
}

// Notes keep their authors and times, and awards their users. Automatic notes stay with the old issue.
async function copyDiscussion(from: IssueRow, to: IssueRow): Promise<void> {
  await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, updated_by_id, created_at, updated_at)
     select ?, 'Issue', ?, author_id, note, updated_by_id, created_at, updated_at from notes
     where noteable_type = 'Issue' and noteable_id = ? and not is_system order by id`,
    [to.project_id, to.id, from.id],
    to.project_id
  )
  await rewriteNotes(from, to)
  await copyNoteAwards(from, to)
  await execute(
    `insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
     select 'Issue', ?, name, user_id, created_at, updated_at from award_emoji
     where awardable_type = 'Issue' and awardable_id = ? order by id`,
    [to.id, from.id],
    to.project_id
  )
  await execute(
    `insert ignore into participants (target_type, target_id, user_id)
     select 'Issue', ?, user_id from participants where target_type = 'Issue' and target_id = ?`,
    [to.id, from.id],
    to.project_id
  )
}
