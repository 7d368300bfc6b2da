// Erases what a removed project leaves behind: its builds end, then their files, the rows and the repository go. The
// row of project_removals goes last: when the job is killed at any point, it begins again and finds what is left.
import { scheduleOrigin } from '../../access/actor.js'
import { eraseOwned } from '../../db/owned-rows.js'
import { execute, marks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { removeRepository } from '../../git/repository.js'
import { enqueue, enqueueAll } from '../../queue/enqueue.js'
import { removeArtifact } from '../../storage/artifacts.js'
import { removeCaches } from '../../storage/caches.js'
import { removeTrace } from '../../storage/traces.js'
import { removeUploads } from '../../storage/uploads.js'
import { removeContributors } from '../history/contributors.js'
import { repositoryPath } from '../projects/repositories.js'
import { removeUnusedKeys } from '../ssh/deploy-keys.js'

/** A canceled build may still write for this long, until its runner notices and ends it. */
const ENDING_MS = 15_000
const AT_ONCE = 200

/** Removes what is left of a project whose row is gone. While its builds end, it enqueues another job for later. */
export async function eraseProject(projectId: number, signal: AbortSignal): Promise<void> {
  const removal = await row<{ storage: string }>('select storage from project_removals where project_id = ?', [
    projectId
  ])
  if (!removal) return
  await cancelBuilds(projectId)
  if (await buildsStillEnd(projectId)) {
    await enqueue('project.remove', { projectId }, { runAt: new Date(Date.now() + ENDING_MS) })
    return
  }
  // The files of a build go before its row: without the row, nothing names them.
  await eraseOwned('projects', projectId, { signal, before: { builds: removeFiles } })
  await wakeWaiting()
  await removeUploads(projectId)
  await removeCaches(projectId)
  await removeContributors(projectId)
  await removeRepository(repositoryPath({ id: projectId, storage: removal.storage }))
  await removeUnusedKeys(scheduleOrigin())
  await execute('delete from project_removals where project_id = ?', [projectId])
}

/** Cancels the builds. It does not advance the pipelines, which would start the builds of later stages. */
async function cancelBuilds(projectId: number): Promise<void> {
  for (let canceled = AT_ONCE; canceled === AT_ONCE; ) {
    const { affectedRows } = await transact(() => {
      const now = new Date()
      return execute(
        `update builds set status = 'canceled', spent_token_hash = token_hash, token_hash = null, process_id = null, lease_until = null,
           finished_at = ?, updated_at = ?
         where project_id = ? and status in ('created', 'pending', 'running') limit ${AT_ONCE}`,
        [now, now, projectId]
      )
    })
    canceled = affectedRows
  }
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

/** Removes files of one attempt more than the row counts: when a worker stops, the row no longer counts its attempt. */
async function removeFiles(buildIds: readonly number[]): Promise<void> {
  const builds = await rows<{ id: number; attempt: number }>(
    `select id, attempt from builds where id in (${marks(buildIds)})`,
    buildIds
  )
  for (const { id, attempt } of builds) {
    for (let number = 1; number <= attempt + 1; number++) {
      const key = { build: id, attempt: number }
      await Promise.all([removeArtifact(key), removeTrace(key)])
    }
  }
}
