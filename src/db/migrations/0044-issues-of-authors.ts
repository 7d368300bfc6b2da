import type { Migration } from './migration.js'

export const issuesOfAuthors: Migration = {
  name: '0044-issues-of-authors',
  // For the totals of a user's issues by project: without this index, the database read the row of each issue.
  up: ['alter table issues add key issues_author_projects (author_id, project_id, is_open)'],
  down: ['alter table issues drop key issues_author_projects']
}
