// The worker as its own process. `gitstead up` forks this file; `gitstead worker` runs it.
import { setTimeout as sleep } from 'node:timers/promises'
import { schemaIsCurrent } from '../db/schema/migrate.js'
import { limitObjectCaches } from '../git/objects/cache-sizes.js'
import { runProcess } from '../process.js'
import { startWorker } from './start.js'

/** A worker reads what a push has changed, once. The server answers repeated reads, so it may have more memory for objects. */
const MOST_OBJECTS = 64 * 1024 * 1024
limitObjectCaches(MOST_OBJECTS)

await runProcess('worker', async () => {
  // With a parent process, a server brings the schema up to date, so this waits. Without one, an old schema is an error.
  while (process.send && !(await schemaIsCurrent())) await sleep(20)
  return startWorker()
})
