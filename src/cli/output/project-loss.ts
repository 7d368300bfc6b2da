import type { ProjectDeletion } from '../../areas/upkeep/removal/project-deletion.queries.js'
import { bytesText } from '../../lib/bytes.js'
import { fields } from './table.js'

const size = (bytes: number | null) => (bytes === null ? 'not counted yet' : bytesText(bytes))

/** For people: what would be deleted together with a project, and what would be kept. */
export function projectLoss(path: string, deletion: ProjectDeletion): string {
  const { commit_count: commits, repository_size, build_artifacts_size, goes, forks } = deletion
  const counts = Object.fromEntries(Object.entries(goes).map(([name, count]) => [name.replaceAll('_', ' '), count]))
  return [
    `would delete project ${path}`,
    fields({
      commits: commits ?? 'not counted yet',
      repository: size(repository_size),
      artifacts: size(build_artifacts_size),
      ...counts
    }),
    ...(forks > 0 ? [`would keep its forks: ${forks}`] : [])
  ].join('\n')
}
