// Queries facts about the database server.
import { row } from './sql.js'

/** Returns the version and name of the server, such as `10.11.6-MariaDB`. */
export async function databaseVersion(): Promise<string> {
  return (await row<{ version: string }>('select version() as version'))?.version ?? ''
}

/** Returns the time of the server's clock. */
export async function databaseNow(): Promise<Date> {
  return (await row<{ now: Date }>('select utc_timestamp(3) as now'))?.now ?? new Date(Number.NaN)
}
