import type { GroupDeletion } from '../../areas/upkeep/removal/group-deletion.queries.js'
import { bytesText } from '../../lib/bytes.js'
import { fields } from './table.js'

const LISTED = 50

/** For people: what is deleted together with a group. */
export function groupSummary(path: string, { projects, storage_size: bytes, ...counts }: GroupDeletion): string {
  const { unshared_projects: unshared, ...going } = counts
  const more = projects.length > LISTED ? [`  and ${projects.length - LISTED} more`] : []
  return [
    `would delete group ${path}`,
    `projects: ${projects.length}`,
    ...projects.slice(0, LISTED).map(project => `  ${project}`),
    ...more,
    fields({
      members: going.members,
      'access requests': going.access_requests,
      pipelines: going.pipelines,
      builds: going.builds,
      stored: bytesText(bytes)
    }),
    '',
    `would be kept, without the members of the group: ${unshared} projects that were shared with it`
  ].join('\n')
}
