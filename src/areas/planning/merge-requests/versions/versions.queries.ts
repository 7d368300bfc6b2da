import { marks, padded, row, rows } from '../../../../db/connect/sql.js'
import { NotFound } from '../../../../errors.js'

export interface VersionRow {
  readonly id: number
  readonly merge_request_id: number
  readonly head_sha: string
  /** Null when the two branches have no common history. */
  readonly base_sha: string | null
  /** The newest commit of the target branch at that time. */
  readonly start_sha: string | null
  readonly state: string
  readonly real_size: string
  readonly created_at: Date
}

const SELECT = `select id, merge_request_id, head_sha, base_sha, start_sha, state, real_size, created_at
  from merge_request_versions where merge_request_id = ?`

/** The maximum number of versions in a list, which has no pages. Not specified: a limit. */
const MOST_VERSIONS = 1000

/** Returns the versions of a merge request. Decided: newest first. */
export const listVersions = (mergeRequestId: number): Promise<VersionRow[]> =>
  rows<VersionRow>(`${SELECT} order by id desc limit ${MOST_VERSIONS}`, [mergeRequestId])

export const latestVersion = (mergeRequestId: number): Promise<VersionRow | undefined> =>
  row<VersionRow>(`${SELECT} order by id desc limit 1`, [mergeRequestId])

/** Returns the newest version with a head; undefined when no version has it. */
export const versionOfHead = (mergeRequestId: number, head: string): Promise<VersionRow | undefined> =>
  row<VersionRow>(`${SELECT} and head_sha = ? order by id desc limit 1`, [mergeRequestId, head])

/** Returns the heads of merge requests that had no commits of their own when they were created, by their ids. */
export async function emptyHeads(mergeRequestIds: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const ids = padded(mergeRequestIds)
  const found = await rows<{ id: number; head: string }>(
    `select merge_request_id as id, head_sha as head from merge_request_versions where state = 'empty'
       and id in (select min(id) from merge_request_versions where merge_request_id in (${marks(ids)}) group by merge_request_id)`,
    ids
  )
  return new Map(found.map(({ id, head }) => [id, head]))
}

/** Returns a version of a merge request. Throws NotFound. */
export async function requireVersion(mergeRequestId: number, id: number): Promise<VersionRow> {
  const found = await row<VersionRow>(`${SELECT} and id = ?`, [mergeRequestId, id])
  if (!found) throw new NotFound()
  return found
}
