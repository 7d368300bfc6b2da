// A merge of a fork brings pointers of git LFS to objects that only the fork has.
import { existsSync } from 'node:fs'
import { row } from '../../../../db/connect/sql.js'
import { findPointers } from '../../../../git/history/lfs-pointers.js'
import { hasLinks, takeLinks } from '../../../projects/lfs/shared-links.js'
import { repositoryPath, type StoredProject } from '../../../projects/projects/repositories.js'
import type { MergeRequestRow } from '../merge-requests.queries.js'

/** Seconds for reading the commits of a merge request. */
const TIMEOUT = 300

/** Links the objects of merged commits to the target. A second run changes nothing. */
export async function takeObjectsOfFork(found: MergeRequestRow): Promise<void> {
  const { id, source_project_id: from, target_project_id: to, head_sha: head } = found
  if (from === to || head === null || !(await hasLinks(from))) return
  const target = await row<StoredProject>('select id, storage from projects where id = ?', [to])
  const path = target && repositoryPath(target)
  if (path === undefined || !existsSync(path)) return
  const version = await row<{ base_sha: string | null }>(
    'select base_sha from merge_request_versions where merge_request_id = ? and head_sha = ? order by id desc limit 1',
    [id, head]
  )
  const base = version?.base_sha ?? null
  const oids = new Set<string>()
  const part = { tips: [head], without: base === null ? [] : [base] }
  await findPointers(path, part, AbortSignal.timeout(TIMEOUT * 1000), oid => oids.add(oid))
  await takeLinks(from, to, [...oids])
}
