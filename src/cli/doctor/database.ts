// Checks the database itself: whether it answers, its schema, its clock.
import { config } from '../../config.js'
import { clockSkew, databaseVersion } from '../../db/connect/server.js'
import { isMigrating, migrationStates } from '../../db/schema/migrate.js'
import { Unavailable } from '../../errors.js'
import { futureJobs } from '../../queue/inspect.js'
import { Ailment, type Check, count } from './check.js'

/** Delayed jobs and schedules would be off by as much. A server or worker refuses to start beyond a quarter of a lease. */
const LARGEST_DRIFT_MS = 2000

export const databaseCheck: Check = {
  name: 'database',
  about: 'the database answers',
  needs: 'database',
  examine: async () => {
    const { url } = config().database
    const which = url === null ? 'the private database' : 'the database of database.url'
    try {
      return `${which} answers: ${await databaseVersion()}`
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const remedy =
        url === null ? `read its log: ${config().home}/run/mysql.log` : 'start that database, or correct database.url'
      throw new Ailment(`${which} does not answer`, remedy)
    }
  }
}

const MIGRATING = 'the appliance is migrating its database'

export const schemaCheck: Check = {
  name: 'schema',
  about: 'every migration of this version is applied, and no migration of a newer version',
  needs: 'database',
  examine: async () => {
    const states = await migrationStates()
    const missing = states.filter(({ applied_at }) => applied_at === null)
    if (missing.length > 0 && (await isMigrating())) throw new Ailment(MIGRATING, 'wait until it is ready')
    if (missing.length === 0) return `current: ${states.at(-1)?.name}`
    throw new Ailment(
      `${missing.length} of ${states.length} migrations are missing`,
      'run gitstead db migrate; restoring an older backup then needs the version of Gitstead that wrote it',
      missing.map(({ name }) => name)
    )
  }
}

export const clockCheck: Check = {
  name: 'clock',
  about: 'this process and the database agree about the time, and no record comes from the future',
  needs: 'rows',
  examine: async () => {
    const drift = await clockSkew()
    const remedy = 'set the clocks of both machines with NTP'
    if (Math.abs(drift) > LARGEST_DRIFT_MS) {
      throw new Ailment(`the clock of the database is ${(drift / 1000).toFixed(1)} s off`, remedy)
    }
    const future = await futureJobs()
    if (future > 0)
      throw new Ailment(`${count(future, 'job comes', 'jobs come')} from the future: the clock was set back`, remedy)
    return `the clock of the database is ${Math.abs(drift)} ms off`
  }
}
