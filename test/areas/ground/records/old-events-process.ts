// Moves old events into files in a process of its own, which the test kills.
import { oldEvents } from '../../../../src/areas/reach/events/old-events.js'
import { loadConfig } from '../../../../src/config.js'
import { closeDatabase } from '../../../../src/db/connect/connection.js'

loadConfig({ port: 0, archive: { events: 365 } })
const { signal } = new AbortController()
await oldEvents.run({ dryRun: false, signal, count: () => undefined, note: () => undefined })
await closeDatabase()
process.disconnect?.()
