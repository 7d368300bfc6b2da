// Queries facts about the database server.
import { row, rows } from './sql.js'

/** Returns the version and name of the server, such as `10.11.6-MariaDB`. */
export async function databaseVersion(): Promise<string> {
  return (await row<{ version: string }>('select version() as version'))?.version ?? ''
}

const LOOKS = 8

/** Returns the names of the servers to which connections that are made at once lead: several behind a proxy that divides them. */
export async function databaseNodes(): Promise<readonly string[]> {
  const variables = "show variables where variable_name in ('wsrep_node_name', 'hostname', 'port')"
  const names = await Promise.all(
    Array.from({ length: LOOKS }, async () => {
      const found = await rows<{ Variable_name: string; Value: string }>(variables)
      const value = new Map(found.map(each => [each.Variable_name, each.Value]))
      return value.get('wsrep_node_name') ?? `${value.get('hostname')}:${value.get('port')}`
    })
  )
  return [...new Set(names)].sort()
}

/** Returns the time of the server's clock. */
export async function databaseNow(): Promise<Date> {
  return (await row<{ now: Date }>('select utc_timestamp(3) as now'))?.now ?? new Date(Number.NaN)
}

/**
 * Returns how many milliseconds the clock of the server is ahead of this one; negative when it is behind. The statement itself
 * takes some time: only a difference beyond that time counts.
 */
export async function clockSkew(): Promise<number> {
  const before = Date.now()
  const theirs = (await databaseNow()).getTime()
  return theirs < before ? theirs - before : Math.max(0, theirs - Date.now())
}
