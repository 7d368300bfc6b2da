// The worker as its own process. `gitstead up` forks this file; `gitstead worker` runs it.
import { setTimeout as sleep } from 'node:timers/promises'
import { schemaIsCurrent } from '../db/schema/migrate.js'
import { runProcess } from '../process.js'
import { startWorker } from './start.js'

await runProcess('worker', async () => {
  // With a parent process, a server brings the schema up to date, so this waits. Without one, an old schema is an error.
  while (process.send && !(await schemaIsCurrent())) await sleep(20)
  return startWorker()
})
