import { execute, rows } from '../../../../db/connect/sql.js'
import type { Task, TaskContext } from '../../../../queue/task.js'
import { removeArtifact } from '../../../../storage/artifacts.js'
import { countArtifacts } from '../../../projects/projects/project-statistics.js'

const BATCH = 500

interface ExpiredRow {
  readonly id: number
  readonly attempt: number
  readonly size: number
}

export const expiredArtifacts: Task = {
  name: 'expired_artifacts',
  // The API answers 404 for artifacts as soon as they expire. This task only frees their disk space.
  schedule: '29 */4 * * *',
  about: 'removes expired artifacts of builds, both file and record',
  run: removeExpired
}

async function removeExpired({ dryRun, signal, count, note }: TaskContext) {
  let bytes = 0
  const now = new Date()
  for (let after = 0; ; ) {
    const expired = await rows<ExpiredRow>(
      `select id, artifacts_attempt as attempt, artifacts_size as size from builds
       where id > ? and artifacts_expire_at < ? and artifacts_attempt is not null order by id limit ${BATCH}`,
      [after, now]
    )
    for (const build of expired) {
      signal.throwIfAborted()
      if (!dryRun) await removeOne(build)
      after = build.id
      bytes += Number(build.size)
      count()
      note(`build ${build.id}: ${build.size} bytes`)
    }
    if (expired.length < BATCH) return { bytes }
  }
}

/**
 * Removes the file first, so that the next run still finds the row if this run stops in between. No request can keep
 * expired artifacts, so none conflicts with the removal.
 */
async function removeOne({ id, attempt, size }: ExpiredRow): Promise<void> {
  await removeArtifact({ build: id, attempt })
  const { affectedRows } = await execute(
    `update builds set artifacts_filename = null, artifacts_size = null, artifacts_attempt = null,
       artifacts_expire_at = null where id = ? and artifacts_attempt = ?`,
    [id, attempt]
  )
  if (affectedRows === 1) await countArtifacts(id, -Number(size))
}
