import { hostname } from 'node:os'
import type { Origin } from '../../access/actor.js'

/** The origin of what the schedule and the tasks do by themselves, for the audit. */
export const scheduleOrigin = (): Origin => ({
  user: null,
  asker: null,
  name: 'schedule',
  actingAs: null,
  via: 'schedule',
  address: hostname().slice(0, 64)
})
