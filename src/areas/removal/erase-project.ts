// What a removed project leaves behind, and how it goes: builds with their files, pipelines, ref changes, the repository.
// The row of project_removals goes last: killed at any point, the job begins again and finds what is left.
import { deleteInBatches, execute, marks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { removeRepository } from '../../git/repository.js'
import { enqueue } from '../../queue/enqueue.js'
import { removeArtifact } from '../../storage/artifacts.js'
import { removeTrace } from '../../storage/traces.js'
import { repositoryPath } from '../projects/repositories.js'

/** A build that was canceled may write for so long: its runner has to notice, and to end it. */
const ENDING_MS = 15_000
const AT_ONCE = 200

/** Removes what is left of a project whose rows are gone. While its builds end it waits, by another job. */
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
  await removeBuilds(projectId, signal)
  await deleteInBatches(
    'delete from pipeline_stages where pipeline_id in (select id from pipelines where project_id = ?)',
    [projectId]
  )
  await deleteInBatches('delete from pipelines where project_id = ?', [projectId])
  await deleteInBatches('delete from ref_changes where project_id = ?', [projectId])
  await removeRepository(repositoryPath({ id: projectId, storage: removal.storage }))
  await execute('delete from project_removals where project_id = ?', [projectId])
}

/** Without moving the pipelines on, which would begin the builds of later stages: pipelines and their counts go as well. */
async function cancelBuilds(projectId: number): Promise<void> {
  for (let canceled = AT_ONCE; canceled === AT_ONCE; ) {
    const { affectedRows } = await transact(() => {
      const now = new Date()
      return execute(
        `update builds set status = 'canceled', token_hash = null, process_id = null, lease_until = null,
           finished_at = ?, updated_at = ?
         where project_id = ? and status in ('created', 'pending', 'running') limit ${AT_ONCE}`,
        [now, now, projectId]
      )
    })
    canceled = affectedRows
  }
}

async function buildsStillEnd(projectId: number): Promise<boolean> {
  const found = await row(
    `select 1 from builds where project_id = ? and status = 'canceled' and started_at is not null and finished_at > ?
     limit 1`,
    [projectId, new Date(Date.now() - ENDING_MS)]
  )
  return found !== undefined
}

/** The files of a build go before its row, or nobody would know of them any more. */
async function removeBuilds(projectId: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const builds = await rows<{ id: number; attempt: number }>(
      `select id, attempt from builds where project_id = ? order by id limit ${AT_ONCE}`,
      [projectId]
    )
    if (builds.length === 0) return
    for (const build of builds) await removeFiles(build)
    const ids = builds.map(({ id }) => id)
    await execute(`delete from builds where id in (${marks(ids)})`, ids)
  }
}

/** One attempt more than is counted: that of a worker that stopped is taken back. */
async function removeFiles({ id, attempt }: { id: number; attempt: number }): Promise<void> {
  for (let number = 1; number <= attempt + 1; number++) {
    const key = { build: id, attempt: number }
    await Promise.all([removeArtifact(key), removeTrace(key)])
  }
}
