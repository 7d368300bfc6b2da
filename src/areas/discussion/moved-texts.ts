// The texts of an issue that moves: what `#1` names in the old project gets the path of that project.
import { setImmediate as others } from 'node:timers/promises'
import { execute, rows } from '../../db/sql.js'
import { withProject } from '../../text/moving.js'
import type { IssueRow } from '../issues/issues.queries.js'
import { setRewrite } from '../issues/move.js'
import { LONGEST_DESCRIPTION } from '../participation/targets.js'

const PAGE = 100
/** Characters of the notes of one issue that are read. Not specified: a limit. The others stay as they are. */
const MOST_READ = 1_000_000

setRewrite((text, from) => rewritten(text, `${from.namespace_path}/${from.path}`))

/** A text that would become too long stays as it is. */
function rewritten(text: string, path: string): string {
  const moved = withProject(text, path)
  return moved.length > LONGEST_DESCRIPTION ? text : moved
}

/** Rewrites the notes that an issue has brought along. Call it in the transaction of the move. */
export async function rewriteNotes(from: IssueRow, to: IssueRow): Promise<void> {
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
    for (const { id, note } of page) {
      read += note.length
      if (read > MOST_READ) return
      const moved = rewritten(note, project.path)
      if (moved !== note) await execute('update notes set note = ? where id = ?', [moved, id])
      await others()
    }
    if (page.length < PAGE) return
    last = page.at(-1)?.id ?? 0
  }
}
