// Commands work whether the appliance runs or not. While it is down, a command starts the database for its own run.
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../config.js'
import { closeDatabase } from '../db/connection.js'
import { type EmbeddedDatabase, embeddedState, startEmbedded } from '../db/embedded.js'
import { migrateUp, requireSchema } from '../db/migrate.js'
import { closeGitProcesses } from '../git/processes.js'
import { closeWake } from '../queue/wake.js'

/**
 * Runs `work` with a database that answers. When the embedded database is down, this starts it, brings its schema up to
 * date, and stops it afterwards. When another command runs the embedded database, this waits until that command stops
 * it. Throws Unavailable when the database does not answer.
 */
export async function withDatabase<T>(work: () => Promise<T>, options: { anySchema?: boolean } = {}): Promise<T> {
  const own = config().database.url === null ? await startIfDown() : undefined
  try {
    if (own && !options.anySchema) await migrateUp()
    else if (!options.anySchema) await requireSchema()
    return await work()
  } finally {
    closeWake()
    await closeGitProcesses()
    await closeDatabase()
    await own?.stop()
  }
}

async function startIfDown(): Promise<EmbeddedDatabase | undefined> {
  for (let tries = 0; tries < 300; tries++) {
    const { up, transient } = await embeddedState()
    if (up && !transient) return undefined
    if (!up) break
    await sleep(100)
  }
  return startEmbedded({ transient: true })
}
