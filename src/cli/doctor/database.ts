// Checks the database itself: whether it answers, its schema, its clock.
import { config } from '../../config.js'
import { measureReplica } from '../../db/connect/replica-looks.js'
import { clockSkew, databaseNodes, databaseVersion } from '../../db/connect/server.js'
import { isMigrating, migrationStates, newerMigrations } from '../../db/schema/migrate.js'
import { Unavailable } from '../../errors.js'
import { counted } from '../../lib/counted.js'
import { futureJobs } from '../../queue/inspect.js'
import { Ailment, type Check } from './check.js'

/** Times in records would be off by as much. A server or worker warns beyond a quarter of a lease, and refuses to start beyond ten minutes. */
const LARGEST_DRIFT_MS = 2000

export const databaseCheck: Check = {
  name: 'database',
  about: 'the database answers; says when connections lead to several nodes of a cluster',
  needs: 'database',
  examine: async () => {
    const { url } = config().database
    const which = url === null ? 'the private database' : 'the database of database.url'
    try {
      const found = `${which} answers: ${await databaseVersion()}`
      const nodes = url === null ? [] : await databaseNodes()
      if (nodes.length < 2) return found
      return {
        found: `${found}; connections lead to several nodes: ${nodes.join(', ')}`,
        next: 'let the proxy send all connections to one node of the database, as config/cluster/haproxy.cfg does: several are slower'
      }
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
  about: 'every migration of this version is applied, and none of a newer version with which this one does not work',
  needs: 'database',
  examine: async () => {
    const states = await migrationStates()
    const missing = states.filter(({ applied_at }) => applied_at === null)
    if (missing.length > 0 && (await isMigrating())) throw new Ailment(MIGRATING, 'wait until it is ready')
    const newer = await newerMigrations()
    if (missing.length === 0 && newer.length > 0)
      return `${counted(newer.length, 'migration')} of a newer version, with which this one works: upgrade this machine`
    if (missing.length === 0) return `current: ${states.at(-1)?.name}`
    throw new Ailment(
      `${missing.length} of ${states.length} migrations are missing`,
      'run gitstead db migrate; restoring an older backup then needs the version of Gitstead that wrote it',
      missing.map(({ name }) => name)
    )
  }
}

export const replicaCheck: Check = {
  name: 'replica',
  about: 'the replica of the database answers, and is not late',
  needs: 'rows',
  examine: async () => {
    const { read_url: url, read_lag: most } = config().database
    if (url === null) return 'none: database.read_url is not set'
    const late = await measureReplica().catch(error => {
      const why = error instanceof Error ? error.message : String(error)
      const remedy = 'start that server, or correct database.read_url; until then, the writing server serves all reads'
      throw new Ailment(`the replica does not answer: ${why}`, remedy)
    })
    const seconds = (late / 1000).toFixed(1)
    if (late <= most * 1000) return `the replica is at most ${seconds} s behind`
    throw new Ailment(
      `the replica is ${seconds} s behind`,
      `look at "show replica status" on that server; beyond database.read_lag (${most} s), it gets no reads`
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
      throw new Ailment(`${counted(future, 'job comes', 'jobs come')} from the future: the clock was set back`, remedy)
    return `the clock of the database is ${Math.abs(drift)} ms off`
  }
}
