// The changes of a merge request, or of one of its versions.

import { may } from '../../../access/authorize.js'
import { readPatches } from '../../../areas/planning/merge-requests/versions/changes.js'
import {
  listVersions,
  requireVersion,
  type VersionRow
} from '../../../areas/planning/merge-requests/versions/versions.queries.js'
import type { ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { type Static, Type } from '../../../lib/type.js'
import type { ShownFile } from '../../../text/diff.js'
import { DiffQuery, diffPart } from '../code/diff.js'
import { inPath } from '../components.js'
import { projectPath } from '../place.js'
import { type Asked, readHead } from './head.js'

export const ChangesQuery = Type.Object({ ...DiffQuery, version: Type.Optional(Type.Integer()) })
export type ChangesQuery = Static<typeof ChangesQuery>

export async function readChangesTab(request: Asked & { readonly query: ChangesQuery }) {
  const { project, query, actor } = request
  const head = await readHead(request, 'diffs')
  const [versions, version] = await Promise.all([
    listVersions(head.found.id),
    query.version === undefined ? head.version : requireVersion(head.found.id, query.version)
  ])
  const changes = await readPatches(project, version)
  const chosen = query.version === undefined ? '' : `version=${query.version}&`
  const part = diffPart(changes, query, {
    page: `${head.base}/diffs?${chosen}`,
    ...(version && may(actor, 'file.read', project) && { fileAt: fileAt(project, version) })
  })
  return { ...head, part, versions, shown: version }
}

/** Returns the page of a file before or after the changes. The repository of the target has all commits of all versions. */
const fileAt =
  (project: ProjectRow, { head_sha: head, base_sha: base, start_sha: start }: VersionRow) =>
  (file: ShownFile, side: 'old' | 'new'): string | null => {
    const commit = side === 'new' ? head : (base ?? start)
    const name = side === 'new' ? file.path : file.oldPath
    return commit === null ? null : `${projectPath(project)}/blob/${commit}/${inPath(name)}`
  }
