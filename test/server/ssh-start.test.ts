// The address and port of the SSH server.
import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { loadConfig, USUAL_SSH_PORT } from '../../src/config.js'
import { requireFreeAddress } from '../../src/listening.js'
import { startSsh } from '../../src/server/ssh/start.js'

process.env.GITSTEAD_LOG_LEVEL = 'silent'

/** Another program may use the usual port of 127.0.0.1, or stop using it while a test runs. */
const HOST = '127.0.0.9'

const configure = (home: string, ssh: object) => {
  process.env.GITSTEAD_HOME = home
  loadConfig({ host: HOST, port: 0, ssh })
}

t.test('when the usual port is in use, the server uses another port', async t => {
  const holder = createServer()
  holder.listen(USUAL_SSH_PORT, HOST)
  await once(holder, 'listening')
  configure(t.testdir(), {})
  await requireFreeAddress()
  const server = await startSsh()
  t.not(server?.port, USUAL_SSH_PORT)
  t.ok(server?.port)
  holder.close()

  await t.test('a port that the configuration names must be free', async t => {
    configure(t.testdir(), { port: server?.port })
    const text = `git over SSH: port ${server?.port} of ${HOST} is already in use: stop the program that uses it, or set ssh.port (GITSTEAD_SSH_PORT)`
    await t.rejects(requireFreeAddress(), { message: text })
    await t.rejects(startSsh(), { message: text })
  })
  await server?.stop()
})

t.test('it can be switched off', async t => {
  configure(t.testdir(), { enabled: false })
  t.equal(await startSsh(), null)
})
