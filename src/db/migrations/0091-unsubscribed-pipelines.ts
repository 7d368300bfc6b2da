import type { Migration } from './migration.js'

// A user can unsubscribe from mail about the pipelines of a project, and keep the level of the project.
export const unsubscribedPipelines: Migration = {
  name: '0091-unsubscribed-pipelines',
  up: ['alter table notification_settings add column without_pipelines boolean not null default false'],
  down: ['alter table notification_settings drop column without_pipelines']
}
