// The server as its own process. `gitstead up` forks this file; `gitstead server` runs it.
import { config } from '../config.js'
import { limitStatements } from '../db/connect/statement-limit.js'
import { migrateUp } from '../db/schema/migrate.js'
import { log } from '../log.js'
import { runProcess } from '../process.js'
import { startServer } from './start.js'

await runProcess('server', async () => {
  limitStatements(config().database.timeout)
  // Under `gitstead up` the server brings the schema up to date, and the worker waits for that.
  if (process.send) {
    const applied = await migrateUp()
    if (applied.length > 0) log().info({ applied }, 'brought the schema up to date')
  }
  return startServer()
})
