// The row of the built-in runner. Every worker that runs builds is this one runner: a shared one that takes untagged
// builds. Decided: it has a row, an id and no tags, and tags can be given to it.
import { execute } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { version } from '../../version.js'
import { findBuiltInRunner, type RunnerRow } from './runners.queries.js'

/** The row as it is now; made when there is none, once however many workers ask. */
export async function builtInRunner(): Promise<RunnerRow> {
  const known = await findBuiltInRunner()
  if (known) return known
  await makeBuiltInRunner()
  const made = await findBuiltInRunner()
  if (!made) throw new Error('the row of the built-in runner cannot be made')
  return made
}

async function makeBuiltInRunner(): Promise<void> {
  const now = new Date()
  await transact(async () => {
    const { affectedRows, insertId } = await execute(
      `insert ignore into runners (description, is_shared, built_in, tag_list, created_at, updated_at)
       values ('built-in runner', true, 1, '[]', ?, ?)`,
      [now, now]
    )
    // What ran before there was a row ran here: else nobody would take it over.
    if (affectedRows === 1) {
      await execute("update builds set runner_id = ? where status = 'running' and runner_id is null", [insertId])
    }
  })
}

/** Notes that a worker of this version is there to run builds. To be called now and then, not with every build. */
export async function showBuiltInRunner(): Promise<void> {
  await execute(
    `update runners set name = 'gitstead', version = ?, revision = ?, platform = ?, architecture = ?, contacted_at = ?
     where built_in = 1`,
    [version, version, process.platform, process.arch, new Date()]
  )
}
