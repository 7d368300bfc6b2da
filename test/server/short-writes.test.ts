// Writes with a token over a real connection: what arrives with the headers needs one statement for all checks, and what arrives later
// is checked after it has arrived.
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { nobody, originOf } from '../../src/access/actor.js'
import { setMaintenanceMode } from '../../src/areas/ground/settings/maintenance-mode.js'
import { pool } from '../../src/db/connect/connection.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { DEVELOPER } from '../../src/lib/levels.js'
import { testApp } from '../helpers/app.js'
import { countStatements, countTransactions } from '../helpers/statements.js'
import t from '../helpers/tap.js'

const { make, fastify } = await testApp(t)
await fastify.listen({ port: 0, host: '127.0.0.1' })
const { port } = fastify.server.address() as AddressInfo

const project = await make.project()
const path = `/api/v3/projects/${project.id}/issues`
const text = JSON.stringify({ title: 'plain' })
const headers = (token: string) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nprivate-token: ${token}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`

/** Sends the headers, waits for `between`, and sends the body. Returns the status of the answer. */
async function send(token: string, between?: () => Promise<unknown>): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.on('data', data => {
    answer += data
  })
  const closed = once(socket, 'close')
  if (between) {
    socket.write(headers(token))
    await between()
    socket.write(text)
  } else socket.write(headers(token) + text)
  await closed
  return Number(answer.slice(9, 12))
}

t.test('a short write checks token, project and maintenance mode with one statement', async t => {
  const { privateToken } = project.owner
  t.equal(await send(privateToken), 201)
  t.equal(await countStatements(() => send(privateToken)), 1)
  t.equal(await countTransactions(() => send(privateToken)), 1, 'and takes the number of the issue in its transaction')
})

t.test('numbers of issues follow each other', async t => {
  await Promise.all(Array.from({ length: 10 }, () => send(project.owner.privateToken)))
  const found = await row<{ least: number; most: number; count: number }>(
    'select min(iid) as least, max(iid) as most, count(*) as count from issues where project_id = ?',
    [project.id]
  )
  t.same(found, { least: 1, most: 13, count: 13 })
})

t.test('a member who is removed while the body arrives may not write', async t => {
  await execute('update projects set visibility_level = 0 where id = ?', [project.id])
  const member = await make.user()
  await make.member(project, DEVELOPER, member)
  t.equal(await send(member.privateToken), 201)
  const remove = async () => {
    // The token is checked as soon as the headers have arrived.
    await once(pool(), 'release')
    await execute("delete from members where user_id = ? and source_type = 'project'", [member.id])
  }
  t.equal(await send(member.privateToken, remove), 404)
})

t.test('during maintenance each write is refused, with any token', async t => {
  await setMaintenanceMode('later', originOf(nobody, null))
  t.equal(await send(project.owner.privateToken), 503)
  t.equal(await send('wrong'), 503)
  t.equal(await send(project.owner.privateToken, () => Promise.resolve()), 503)
  await setMaintenanceMode(null, originOf(nobody, null))
  t.equal(await send('wrong'), 401)
})
