import type { Migration } from './migration.js'

// A provider ends the sessions of one of its own.
export const sessionsOfProviders: Migration = {
  name: '0148-sessions-of-providers',
  up: ['alter table sessions add key sessions_provider (provider, provider_session)'],
  down: ['alter table sessions drop key sessions_provider']
}
