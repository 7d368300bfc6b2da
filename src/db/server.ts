// What the database server says of itself.
import { row } from './sql.js'

/** The server's name and version, such as `10.11.6-MariaDB`. */
export async function databaseVersion(): Promise<string> {
  return (await row<{ version: string }>('select version() as version'))?.version ?? ''
}

/** The time by the server's clock. */
export async function databaseNow(): Promise<Date> {
  return (await row<{ now: Date }>('select utc_timestamp(3) as now'))?.now ?? new Date(Number.NaN)
}
