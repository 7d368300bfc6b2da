import { marks, padded, row, rows } from '../../../../db/connect/sql.js'
import type { ReleaseRow } from './tags.view.js'

/** Reads the release notes of some tags. */
export async function findReleases(
  projectId: number,
  tags: readonly string[]
): Promise<ReadonlyMap<string, ReleaseRow>> {
  if (tags.length === 0) return new Map()
  const listed = padded(tags)
  const found = await rows<ReleaseRow>(
    `select tag, description from releases where project_id = ? and tag in (${marks(listed)})`,
    [projectId, ...listed]
  )
  return new Map(found.map(release => [release.tag, release]))
}

/** Returns a text that changes with any release notes of a project. */
export async function releasesVersion(projectId: number): Promise<string> {
  const found = await row<{ total: number; last: number | null; changed: Date | null }>(
    'select count(*) as total, max(id) as last, max(updated_at) as changed from releases where project_id = ?',
    [projectId]
  )
  return `${found?.total ?? 0} ${found?.last ?? 0} ${found?.changed?.toISOString() ?? ''}`
}
