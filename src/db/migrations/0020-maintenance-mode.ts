import type { Migration } from './migration.js'

export const maintenanceMode: Migration = {
  name: '0020-maintenance-mode',
  up: [
    // They are apart from the settings, because no client may change them with the others.
    `alter table application_settings
      add column maintenance_message varchar(1000) null,
      add column maintenance_since datetime(3) null`
  ],
  down: ['alter table application_settings drop column maintenance_message, drop column maintenance_since']
}
