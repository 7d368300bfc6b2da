import { execute, rows } from '../../../../db/connect/sql.js'
import type { Task, TaskContext } from '../../../../queue/task.js'
import { removeArtifact } from '../../../../storage/artifacts.js'
import { countArtifacts } from '../../../projects/projects/project-statistics.js'

const BATCH = 500

interface ExpiredRow {
  readonly id: number
  readonly attempt: number
  readonly size: number
  readonly expired: Date
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
  for (let after = { expired: new Date(0), id: 0 }; ; ) {
    const expired = await rows<ExpiredRow>(
      `select id, artifacts_attempt as attempt, artifacts_size as size, artifacts_expire_at as expired from builds
       where artifacts_expire_at >= ? and artifacts_expire_at < ? and (artifacts_expire_at > ? or id > ?)
         and artifacts_attempt is not null order by artifacts_expire_at, id limit ${BATCH}`,
      [after.expired, now, after.expired, after.id]
    )
    for (const build of expired) {
      signal.throwIfAborted()
      if (!dryRun) await removeOne(build)
      after = build
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
