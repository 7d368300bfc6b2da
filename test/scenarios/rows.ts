// Queries the database of a running appliance directly.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectionOptions, createConnection, type RowDataPacket } from 'mysql2/promise'

type Values = (string | number | Buffer)[]

/** The rows of a statement in the database of a home. */
export function rowsOf<T>(home: string, sql: string, values: Values = []): Promise<T[]> {
  const secrets = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')) as { database_password: string }
  const login = { user: 'root', password: secrets.database_password, database: 'gitstead' }
  return read({ socketPath: join(home, 'run/mysql.sock'), ...login }, sql, values)
}

/** The rows of a statement in the database at a URL, which may name a socket. */
export function rowsAt<T>(url: string, sql: string): Promise<T[]> {
  const address = new URL(url)
  const socketPath = address.searchParams.get('socket')
  address.search = ''
  return read({ uri: address.href, ...(socketPath !== null && { socketPath }), connectTimeout: 2000 }, sql, [])
}

async function read<T>(options: ConnectionOptions, sql: string, values: Values): Promise<T[]> {
  const connection = await createConnection({ ...options, timezone: 'Z' })
  try {
    const [found] = await connection.query<RowDataPacket[]>(sql, values)
    return found as T[]
  } finally {
    connection.destroy()
  }
}
