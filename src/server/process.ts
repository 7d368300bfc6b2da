// The server as a process of its own: `gitstead up` forks it, `gitstead server` is it.
import { migrateUp } from '../db/migrate.js'
import { runProcess } from '../process.js'
import { startServer } from './start.js'

await runProcess('server', async () => {
  // The appliance's server brings the schema up to date; its worker waits for that.
  if (process.send) await migrateUp()
  return startServer()
})
