// Starts the home's database in its own process, uses it, and stops it again. With `stay` it waits until it is killed.
import { closeDatabase } from '../../src/db/connection.js'
import { startEmbedded } from '../../src/db/embedded.js'
import { rows } from '../../src/db/sql.js'

const database = await startEmbedded({ transient: true })
await rows('select 1')
process.send?.({ pid: database.pid })
if (process.argv[2] !== 'stay') {
  await closeDatabase()
  await database.stop()
  process.disconnect?.()
}
