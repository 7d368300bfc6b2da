// Texts that name somebody who has another name now. They stay what their authors wrote, so their dates stay, too.
import { execute, marks, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { likeText } from '../../../db/lists/conditions.js'
import { batches } from '../../../lib/batches.js'
import { renewWords } from '../participation/search-words.js'

const AT_ONCE = 200
/** A statement reads all texts of these projects. */
const PROJECTS_AT_ONCE = 20

const TEXTS = [
  {
    table: 'issues',
    project: 'project_id',
    column: 'description',
    kind: 'issue',
    update: 'update issues set description = ? where id = ?'
  },
  {
    table: 'merge_requests',
    project: 'target_project_id',
    column: 'description',
    kind: 'merge_request',
    update: 'update merge_requests set description = ? where id = ?'
  },
  {
    table: 'notes',
    project: 'project_id',
    column: 'note',
    kind: null,
    update: 'update notes set note = ? where id = ?'
  }
] as const

/** Changes the descriptions and notes of projects that contain `part`. When it is killed, the next call continues. */
export async function changeTexts(
  projectIds: readonly number[],
  part: string,
  change: (text: string) => string
): Promise<void> {
  const pattern = `%${likeText(part)}%`
  for (const { table, project, column, kind, update } of TEXTS) {
    for (const some of batches(projectIds, PROJECTS_AT_ONCE)) {
      // Without a lock: most texts contain nothing of it.
      const found = await rows<{ id: number }>(
        `select id from ${table} where ${project} in (${marks(some)}) and ${column} like ?`,
        [...some, pattern]
      )
      for (const ids of batches(found, AT_ONCE)) {
        await transact(async () => {
          const texts = await rows<{ id: number; text: string }>(
            `select id, ${column} as text from ${table} where id in (${marks(ids)}) for update`,
            ids.map(({ id }) => id)
          )
          for (const { id, text } of texts) {
            const changed = change(text)
            if (changed === text) continue
            await execute(update, [changed, id])
            if (kind) await renewWords(kind, id)
          }
        })
      }
    }
  }
}
