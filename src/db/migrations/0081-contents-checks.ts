import type { Migration } from './migration.js'

export const contentsChecks: Migration = {
  name: '0081-contents-checks',
  // When the task repository_contents has last read all objects of a repository.
  up: ['alter table repository_checks add column contents_at datetime(3) null'],
  down: ['alter table repository_checks drop column contents_at']
}
