// The database itself: whether it answers, its schema, its clock.
import { config } from '../../config.js'
import { storedMigrationStates } from '../../db/migrate.js'
import { databaseNow, databaseVersion } from '../../db/server.js'
import { Unavailable } from '../../errors.js'
import { futureJobs } from '../../queue/inspect.js'
import { Ailment, type Check } from './check.js'

/** Leases last for seconds: a clock that is off by more takes jobs from those who do them. */
const LARGEST_DRIFT_MS = 2000

export const databaseCheck: Check = {
  name: 'database',
  about: 'the database answers',
  needs: 'database',
  examine: async () => {
    const { url } = config().database
    const which = url === null ? 'the private one' : 'that of database.url'
    try {
      return `${which} answers: ${await databaseVersion()}`
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const remedy = url === null ? `read ${config().home}/run/mysql.log` : 'start it, or correct database.url'
      throw new Ailment(`${which} is not available`, remedy)
    }
  }
}

export const schemaCheck: Check = {
  name: 'schema',
  about: 'every migration of this version is applied, and none of a newer one',
  needs: 'database',
  examine: async () => {
    const states = await storedMigrationStates()
    const missing = states.filter(({ applied_at }) => applied_at === null)
    if (missing.length === 0) return `current: ${states.at(-1)?.name}`
    throw new Ailment(
      `${missing.length} of ${states.length} migrations are missing`,
      'run gitstead db migrate, after a backup',
      missing.map(({ name }) => name)
    )
  }
}

export const clockCheck: Check = {
  name: 'clock',
  about: 'this process and the database agree about the time, and no record is of the future',
  needs: 'rows',
  examine: async () => {
    const before = Date.now()
    const theirs = (await databaseNow()).getTime()
    const after = Date.now()
    // Nothing can be said of the time that the question took.
    const drift = theirs < before ? theirs - before : Math.max(0, theirs - after)
    const remedy = 'let both machines keep time by NTP'
    if (Math.abs(drift) > LARGEST_DRIFT_MS) {
      throw new Ailment(`the clock of the database is ${(drift / 1000).toFixed(1)} s off`, remedy)
    }
    const future = await futureJobs()
    if (future > 0) throw new Ailment(`${future} jobs were made in the future: the clock was set back`, remedy)
    return `the database's clock is ${Math.abs(drift)} ms off`
  }
}
