// Refuses what must not happen while anything uses the appliance.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../config.js'
import { embeddedState } from '../../db/embedded/embedded.js'
import { othersAtWork } from '../../db/schema/rollback.js'
import { Conflict } from '../../errors.js'

const refusal = (who: string) => new Conflict(`${who}: stop the appliance first`)

/** Two looks, both before any change. Each throws Conflict when something is at work. */
export const refuseAtWork = {
  /** The processes of this machine: a server that is idle may hold no connection. */
  beforeDatabase: async (): Promise<void> => {
    if (config().database.url === null) {
      const { up, transient, owner } = await embeddedState()
      if (up && !transient) throw refusal(`the appliance runs on ${config().home} (process ${owner})`)
    }
    const server = runningServer()
    if (server !== null) throw refusal(`a server runs on ${config().home} (process ${server})`)
  },
  /** All that is connected to the database, from any machine. */
  inDatabase: async (): Promise<void> => {
    const others = await othersAtWork()
    if (others.length > 0) throw refusal(`the database is in use by ${others.join(', ')}`)
  }
}

/** The process that the server noted at its start, if that is a server still. */
function runningServer(): number | null {
  try {
    const { pid } = JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as { pid: number }
    return /gitstead.*server/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ? pid : null
  } catch {
    return null
  }
}
