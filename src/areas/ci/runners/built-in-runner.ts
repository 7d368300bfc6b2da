// The row of the built-in runner. All workers that run builds act as this one runner, which is shared and takes
// untagged builds. We decided that it has a row and an id; it has no tags at first, but it can get tags.
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { revision, version } from '../../../version.js'
import { findBuiltInRunner, type RunnerRow } from './runners.queries.js'

/** Returns the row of the built-in runner, and inserts it when it is missing. Concurrent calls insert one row. */
export async function builtInRunner(): Promise<RunnerRow> {
  const known = await findBuiltInRunner()
  if (known) return known
  await makeBuiltInRunner()
  const made = await findBuiltInRunner()
  if (!made) throw new Error('the row of the built-in runner cannot be created')
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
    // Running builds without a runner were started by the built-in runner before it had a row. They get its id, because
    // only the runner of a build can take it over.
    if (affectedRows === 1) {
      await execute("update builds set runner_id = ? where status = 'running' and runner_id is null", [insertId])
    }
  })
}

/** Records the version and the contact time of a worker. Call it at intervals, not for every build. */
export async function showBuiltInRunner(): Promise<void> {
  await execute(
    `update runners set name = 'gitstead', version = ?, revision = ?, platform = ?, architecture = ?, contacted_at = ?
     where built_in = 1`,
    [version, revision, process.platform, process.arch, new Date()]
  )
}
