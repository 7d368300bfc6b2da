// The program with which the read of a project is compared: Fastify with only one route, with its own pool of connections, the
// same statement as the product, and a serialiser for its row.
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import mysql, { type ExecuteValues } from 'mysql2'
import { actorOf } from '../../src/access/actor.js'
import { shownProjectById } from '../../src/areas/projects/projects/projects.queries.js'
import { loadConfig } from '../../src/config.js'
import { databaseSocket } from '../../src/db/embedded/embedded.js'
import { EMBEDDED_NAME } from '../../src/db/embedded/folder.js'
import { secrets } from '../../src/secrets.js'

const [home = '', userId = '0'] = process.argv.slice(2)
/** The administrator who also calls the product. */
const asker = actorOf(
  { id: Number(userId), username: '', name: '', email: '', admin: true, external: false },
  'private'
)
loadConfig({ home })

const pool = mysql.createPool({
  socketPath: databaseSocket(),
  user: 'root',
  password: secrets().database_password,
  database: EMBEDDED_NAME,
  connectionLimit: 8,
  timezone: 'Z'
})

type Row = Record<string, unknown>

const read = (id: number) =>
  new Promise<Row>((resolve, reject) => {
    const { sql, values } = shownProjectById(id, asker)
    pool.execute(sql, [...values] as ExecuteValues, (error, rows) =>
      error ? reject(error) : resolve((rows as Row[])[0] ?? {})
    )
  })

const sample = await read(Number(process.argv[4]))
const properties = Object.fromEntries(
  Object.entries(sample)
    .filter(([, value]) => !Buffer.isBuffer(value))
    .map(([name, value]) => [name, schemaOf(value)])
)

function schemaOf(value: unknown) {
  if (value instanceof Date) return { type: 'string', format: 'date-time' }
  return { type: typeof value === 'number' ? 'integer' : 'string', nullable: true }
}

const app = Fastify()
app.get<{ Params: { id: string } }>(
  '/projects/:id',
  { schema: { response: { 200: { type: 'object', properties } } } },
  async request => read(Number(request.params.id))
)
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.((app.server.address() as AddressInfo).port)
process.on('disconnect', () => process.exit(0))
