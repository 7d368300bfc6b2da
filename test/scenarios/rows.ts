// Queries the database of a running appliance directly.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection, type RowDataPacket } from 'mysql2/promise'

/** The rows of a statement in the database of a home. */
export async function rowsOf<T>(home: string, sql: string, values: (string | number | Buffer)[] = []): Promise<T[]> {
  const secrets = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')) as { database_password: string }
  const connection = await createConnection({
    socketPath: join(home, 'run/mysql.sock'),
    user: 'root',
    password: secrets.database_password,
    database: 'gitstead',
    timezone: 'Z'
  })
  try {
    const [found] = await connection.query<RowDataPacket[]>(sql, values)
    return found as T[]
  } finally {
    connection.destroy()
  }
}
