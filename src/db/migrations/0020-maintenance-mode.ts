import type { Migration } from './migration.js'

export const maintenanceMode: Migration = {
  name: '0020-maintenance-mode',
  up: [
    // These columns are separate from the settings, because no client may change them together with the others.
    `alter table application_settings
      add column maintenance_message varchar(1000) null,
      add column maintenance_since datetime(3) null`
  ],
  down: ['alter table application_settings drop column maintenance_message, drop column maintenance_since']
}
