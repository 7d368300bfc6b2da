// A merge request from a fork brings pointers of git LFS to objects that only the fork has. A job links them to the target as soon as the
// target has the commits, so that neither the end of the fork nor a merge leaves pointers without objects.
import { existsSync } from 'node:fs'
import { execute, row, rows } from '../../../../db/connect/sql.js'
import { findPointers } from '../../../../git/history/lfs-pointers.js'
import { DamagedRepository } from '../../../../git/objects/objects.js'
import { GitFailure } from '../../../../git/process/run.js'
import { log } from '../../../../log.js'
import { holdLinks, takeLinks } from '../../../projects/lfs/shared-links.js'
import { repositoryPath, type StoredProject } from '../../../projects/projects/repositories.js'

/** Milliseconds that a merge waits for objects that no job has linked yet. After that time, the job of the merge links them. */
const MERGE_WAITS = 5000

interface Brought {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly state: string
  readonly versionId: number
  readonly head: string
  readonly base: string | null
  readonly isLinked: 0 | 1
}

/** The newest versions of merge requests from forks. */
const BROUGHT = `select m.id, m.source_project_id as \`from\`, m.target_project_id as \`to\`, m.state, v.id as versionId, v.head_sha as head,
    v.base_sha as base, v.has_objects as isLinked
  from merge_requests m join merge_request_versions v on v.merge_request_id = m.id and v.head_sha = m.head_sha
  where m.source_project_id <> m.target_project_id
    and v.id = (select max(o.id) from merge_request_versions o where o.merge_request_id = m.id and o.head_sha = m.head_sha)
    and exists (select 1 from lfs_links l where l.project_id in (m.source_project_id, m.target_project_id))`

const findBrought = (id: number) => row<Brought>(`${BROUGHT} and m.id = ?`, [id])

/** Links the objects of a merge request to the target: for the time being, and for good once it is merged. A second run changes nothing. */
export async function linkObjectsOfFork(id: number, signal: AbortSignal): Promise<void> {
  const found = await findBrought(id)
  if (found?.state === 'merged') await take(found, signal)
  else if (found && !found.isLinked) await hold(found, signal)
}

/** Links the objects of a merge request before its merge, unless a job has done so. */
export async function linkObjectsBeforeMerge(id: number): Promise<void> {
  const found = await findBrought(id)
  if (!found || found.isLinked) return
  const signal = AbortSignal.timeout(MERGE_WAITS)
  try {
    await take(found, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Does the rest for all merge requests of a fork that is being removed. */
export async function linkObjectsOfRemoved(forkId: number, signal: AbortSignal): Promise<void> {
  const found = await rows<Brought>(`${BROUGHT} and m.source_project_id = ? and not v.has_objects order by m.id`, [
    forkId
  ])
  for (const each of found) {
    try {
      await (each.state === 'merged' ? take : hold)(each, signal)
    } catch (error) {
      // Nobody can check out what the target cannot read, and it must not keep the fork from being removed.
      if (!(error instanceof GitFailure || error instanceof DamagedRepository) || signal.aborted) throw error
      log().warn({ error, mergeRequest: each.id }, 'the LFS objects of a merge request are not in its target')
    }
  }
}

async function take(found: Brought, signal: AbortSignal): Promise<void> {
  const oids = await objectsOf(found, signal)
  await takeLinks(found.from, found.to, oids)
  await noteLinked(found)
}

async function hold(found: Brought, signal: AbortSignal): Promise<void> {
  if (await holdLinks(found.from, found.to, await objectsOf(found, signal))) await noteLinked(found)
}

const noteLinked = ({ versionId, to }: Brought) =>
  execute('update merge_request_versions set has_objects = true where id = ?', [versionId], to)

/** Returns the objects that the commits of a merge request name. The target has the commits. */
async function objectsOf({ to, head, base }: Brought, signal: AbortSignal): Promise<string[]> {
  const target = await row<StoredProject>('select id, storage from projects where id = ?', [to])
  const path = target && repositoryPath(target)
  if (path === undefined || !existsSync(path)) return []
  const oids = new Set<string>()
  await findPointers(path, { tips: [head], without: base === null ? [] : [base] }, signal, oid => oids.add(oid))
  return [...oids]
}
