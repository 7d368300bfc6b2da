// The worker as a process of its own: `gitstead up` forks it, `gitstead worker` is it.
import { setTimeout as sleep } from 'node:timers/promises'
import { schemaIsCurrent } from '../db/migrate.js'
import { runProcess } from '../process.js'
import { startWorker } from './start.js'

await runProcess('worker', async () => {
  // Beside a server that brings the schema up to date, it is waited for; alone, an old schema is an error.
  while (process.send && !(await schemaIsCurrent())) await sleep(20)
  return startWorker()
})
