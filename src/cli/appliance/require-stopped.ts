// Refuses work that must not happen while anything uses the appliance.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded/embedded.js'
import { othersAtWork } from '../../db/schema/rollback.js'
import { Conflict } from '../../errors.js'

const refusal = (who: string) => new Conflict(`${who}: stop the appliance first`)

/** Two checks, both before any change. Each throws Conflict when something uses the appliance. */
export const refuseAtWork = {
  /** Checks the processes of this machine: an idle server may have no connection to the database. */
  beforeDatabase: async (): Promise<void> => {
    if (config().database.url === null) {
      const { up, transient, owner } = await embeddedState()
      if (up && !transient) throw refusal(`the appliance runs on ${config().home} (process ${owner})`)
    }
    const server = runningServer()
    if (server !== null) throw refusal(`a server runs on ${config().home} (process ${server})`)
  },
  /** Checks everything that is connected to the database, from any machine. */
  inDatabase: async (): Promise<void> => {
    const others = await othersAtWork()
    if (others.length > 0) throw refusal(`the database is in use by ${others.join(', ')}`)
  }
}

/** Returns the process id that the server wrote down at its start, if that process is still a server. */
function runningServer(): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as { pid: number }
    return /gitstead.*server/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ? pid : null
  } catch {
    return null
  }
}
