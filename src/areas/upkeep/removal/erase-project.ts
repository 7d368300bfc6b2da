// Erases the remains of a removed project: ends its builds, then removes their files, the rows and the repository. The row of
// project_removals is deleted last: a job that is killed at any point starts again and finds the rest.
import { scheduleOrigin } from '../../../access/actor.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { eraseOwned } from '../../../db/ownership/owned-rows.js'
import { removeRepository } from '../../../git/repository/repository.js'
import { enqueue, enqueueAll } from '../../../queue/enqueue.js'
import { removeCaches } from '../../../storage/caches.js'
import { removeUploads } from '../../../storage/uploads.js'
import { removeBuildFiles } from '../../ci/builds/files/remove-files.js'
import { cancelBuildsOfProject } from '../../ci/builds/pipeline-actions.js'
import { removeContributors } from '../../code/history/contributors.js'
import { removeFiles } from '../../ground/records/archived-files.js'
import { linkObjectsOfRemoved } from '../../planning/merge-requests/accept/lfs-of-fork.js'
import { touchObjectsOf } from '../../projects/lfs/unused.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { removeUnusedKeys } from '../../projects/ssh/deploy-keys.js'

/** A canceled build may still write for this long, until its runner notices and ends it. */
const ENDING_MS = 15_000

/** Removes the remains of a project whose row is deleted. While its builds end, it enqueues another job for later. */
export async function eraseProject(projectId: number, signal: AbortSignal): Promise<void> {
  const removal = await row<{ storage: string }>('select storage from project_removals where project_id = ?', [
    projectId
  ])
  if (!removal) return
  await cancelBuildsOfProject(projectId)
  if (await buildsStillEnd(projectId)) {
    await enqueue('project.remove', { projectId }, { runAt: new Date(Date.now() + ENDING_MS) })
    return
  }
  await linkObjectsOfRemoved(projectId, signal)
  await touchObjectsOf(projectId)
  // The files of a build are removed before its row: without the row, their names are unknown.
  await eraseOwned('projects', projectId, { signal, before: { builds: removeBuilds, archived_files: removeFiles } })
  await wakeWaiting()
  await removeUploads(projectId)
  await removeCaches(projectId)
  await removeContributors(projectId)
  await removeRepository(repositoryPath({ id: projectId, storage: removal.storage }))
  await removeUnusedKeys(scheduleOrigin())
  await execute('delete from project_removals where project_id = ?', [projectId])
}

/** Builds of other projects may wait for pipelines of this one. */
async function wakeWaiting(): Promise<void> {
  const waiting = await rows<{ buildId: number }>(
    `select b.id as buildId from builds b join downstream_pipelines d on d.build_id = b.id
       left join pipelines l on l.id = d.pipeline_id
     where b.status = 'running' and b.runner_id is null and d.awaited and l.id is null
     union all select b.id as buildId from builds b join followed_pipelines f on f.build_id = b.id
       left join pipelines l on l.id = f.followed_pipeline_id
     where b.status = 'running' and b.runner_id is null and l.id is null`
  )
  if (waiting.length > 0) await enqueueAll('build.trigger', waiting)
}

async function buildsStillEnd(projectId: number): Promise<boolean> {
  const found = await row(
    `select 1 from builds where project_id = ? and status = 'canceled' and started_at is not null and finished_at > ?
     limit 1`,
    [projectId, new Date(Date.now() - ENDING_MS)]
  )
  return found !== undefined
}

async function removeBuilds(buildIds: readonly number[]): Promise<void> {
  const builds = await rows<{ id: number; attempt: number }>(
    `select id, attempt from builds where id in (${marks(buildIds)})`,
    buildIds
  )
  for (const build of builds) await removeBuildFiles(build)
}
