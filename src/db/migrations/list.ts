// All migrations in order. Only append to this list; never edit a migration that has landed.
import type { Migration } from '../migration.js'
import { accounts } from './0001-accounts.js'
import { projects } from './0002-projects.js'
import { jobs } from './0003-jobs.js'
import { builds } from './0004-builds.js'
import { hooks } from './0005-hooks.js'
import { administration } from './0006-administration.js'
import { access } from './0007-access.js'
import { happenings } from './0008-happenings.js'
import { runners } from './0009-runners.js'
import { maintenanceMode } from './0020-maintenance-mode.js'

export const migrations: readonly Migration[] = [
  accounts,
  projects,
  jobs,
  builds,
  hooks,
  administration,
  access,
  happenings,
  runners,
  maintenanceMode
]
