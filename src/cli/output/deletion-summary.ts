import type { UserDeletion } from '../../areas/upkeep/removal/user-deletion.js'
import { fields } from './table.js'

const LISTED = 50

const NAMES: { readonly [name: string]: string } = {
  projects: 'projects in other namespaces',
  audit_events: 'audit events (with the name)'
}

const spoken = (name: string) => NAMES[name] ?? name.replaceAll('_', ' ')
const counts = (record: UserDeletion['goes'] | UserDeletion['stays']) =>
  Object.entries(record).filter((entry): entry is [string, number] => typeof entry[1] === 'number')

const spokenCounts = (record: UserDeletion['goes'] | UserDeletion['stays']) =>
  Object.fromEntries(counts(record).map(([name, count]) => [spoken(name), count]))

/** For people: which records of a user would be deleted, which would be kept, and why the deletion would be refused. */
export function summaryOf(username: string, deletion: UserDeletion): string {
  const { only_owner_of: groups, last_admin: lastAdmin, goes, stays, given } = deletion
  const { projects } = goes
  const more = projects.length > LISTED ? [`  and ${projects.length - LISTED} more`] : []
  const lines = [
    `would delete user ${username}`,
    `projects: ${projects.length}`,
    ...projects.slice(0, LISTED).map(path => `  ${path}`),
    ...more,
    fields(spokenCounts(goes)),
    ...(given ? ['', 'would be given to the ghost user:', fields(spokenCounts(given))] : []),
    '',
    'would be kept, without the name of the user:',
    fields(spokenCounts(stays))
  ]
  return [...lines, ...refusalsOf(username, groups, lastAdmin)].join('\n')
}

function refusalsOf(username: string, groups: readonly string[], lastAdmin: boolean): string[] {
  const reasons = [
    ...(groups.length > 0 ? [`is the only owner of ${groups.join(', ')}`] : []),
    ...(lastAdmin ? ['is the last active administrator'] : [])
  ]
  return reasons.length > 0 ? ['', `would be refused: user ${username} ${reasons.join(' and ')}`] : []
}
