import type { Migration } from './migration.js'

export const issuesOfAuthors: Migration = {
  name: '0044-issues-of-authors',
  // The total of what a user has made, by project: without this index it read the row of each issue.
  up: ['alter table issues add key issues_author_projects (author_id, project_id, is_open)'],
  down: ['alter table issues drop key issues_author_projects']
}
