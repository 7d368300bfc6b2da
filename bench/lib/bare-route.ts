// The program with which reads are compared: Fastify with only one route and its own pool of connections. It reads the rows of the
// same records by their primary keys with one prepared statement, and answers the same records through the product's schema.
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import mysql from 'mysql2'
import { Type } from 'typebox'
import { Build } from '../../src/areas/ci/builds/builds.view.js'
import { Member } from '../../src/areas/people/members/members.view.js'
import { UserInList } from '../../src/areas/people/users/users.view.js'
import { Note } from '../../src/areas/planning/discussion/notes.view.js'
import { Issue } from '../../src/areas/planning/issues/issues.view.js'
import { Label } from '../../src/areas/planning/labels/labels.view.js'
import { MergeRequest } from '../../src/areas/planning/merge-requests/merge-requests.view.js'
import { Project } from '../../src/areas/projects/projects/projects.view.js'
import { Todo } from '../../src/areas/reach/todos/todos.view.js'
import { loadConfig } from '../../src/config.js'
import { databaseSocket } from '../../src/db/embedded/embedded.js'
import { EMBEDDED_NAME } from '../../src/db/embedded/folder.js'
import { secrets } from '../../src/secrets.js'
import type { Table } from './bare.js'

const RECORDS = {
  builds: Build,
  issues: Issue,
  labels: Label,
  members: Member,
  merge_requests: MergeRequest,
  notes: Note,
  projects: Project,
  todos: Todo,
  users: UserInList
} satisfies Record<Table, unknown>

const [home, table, answerFile] = process.argv.slice(2) as [string, Table, string]
const answer = JSON.parse(readFileSync(answerFile, 'utf8')) as { id: number } | { id: number }[]
const ids = (Array.isArray(answer) ? answer : [answer]).map(({ id }) => id)
// A member has the id of the user.
const sql = `select * from ${table === 'members' ? 'users' : table} where id in (${ids.map(() => '?').join(', ')})`
loadConfig({ home })

const pool = mysql.createPool({
  socketPath: databaseSocket(),
  user: 'root',
  password: secrets().database_password,
  database: EMBEDDED_NAME,
  connectionLimit: 8,
  timezone: 'Z'
})

const readRows = () =>
  new Promise<number>((resolve, reject) =>
    pool.execute(sql, ids, (error, rows) => (error ? reject(error) : resolve((rows as unknown[]).length)))
  )

const schema = Array.isArray(answer) ? Type.Array(RECORDS[table]) : RECORDS[table]
const app = Fastify()
app.get('/', { schema: { response: { 200: schema } } }, async () => {
  if ((await readRows()) !== ids.length) throw new Error('rows are missing')
  return answer
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.send?.((app.server.address() as AddressInfo).port)
process.on('disconnect', () => process.exit(0))
