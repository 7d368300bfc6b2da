import type { UserDeletion } from '../areas/removal/user-deletion.js'
import { fields } from './table.js'

const LISTED = 50

/** For people: which records of a user would be deleted, which would stay, and why the deletion would be refused. */
export function summaryOf(username: string, { only_owner_of: groups, last_admin, goes, stays }: UserDeletion): string {
  const { projects, ...counts } = goes
  const more = projects.length > LISTED ? [`  and ${projects.length - LISTED} more`] : []
  const lines = [
    `would delete user ${username}`,
    `projects: ${projects.length}`,
    ...projects.slice(0, LISTED).map(path => `  ${path}`),
    ...more,
    fields({ ...counts }),
    '',
    'would stay, without the name of the user:',
    fields({
      'projects elsewhere': stays.projects,
      pipelines: stays.pipelines,
      builds: stays.builds,
      pushes: stays.pushes,
      'audit events (with the name)': stays.audit_events
    })
  ]
  return [...lines, ...refusalsOf(username, groups, last_admin)].join('\n')
}

function refusalsOf(username: string, groups: readonly string[], lastAdmin: boolean): string[] {
  const reasons = [
    ...(groups.length > 0 ? [`is the only owner of ${groups.join(', ')}`] : []),
    ...(lastAdmin ? ['is the last active administrator'] : [])
  ]
  return reasons.length > 0 ? ['', `would be refused: user ${username} ${reasons.join(' and ')}`] : []
}
