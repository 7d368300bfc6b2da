// Starts the home's database in its own process, uses it, and stops it again. With `stay` it waits until it is killed.
import { closeDatabase } from '../../src/db/connect/connection.js'
import { rows } from '../../src/db/connect/sql.js'
import { startEmbedded } from '../../src/db/embedded/embedded.js'

const database = await startEmbedded({ transient: true })
await rows('select 1')
process.send?.({ pid: database.pid })
if (process.argv[2] !== 'stay') {
  await closeDatabase()
  await database.stop()
  process.disconnect?.()
}
