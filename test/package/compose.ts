// The services of config/docker/compose.yaml, with its settings and limits, on a MySQL and an S3 service outside. Podman runs them one by
// one on the network of this machine: Debian 12 has no program for such files.
import { readFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { testBucket } from '../helpers/bucket.js'
import { makeDatabase, startTestServer } from '../helpers/database-server.js'
import { until } from '../helpers/until.js'
import { root as checkout, freePort } from '../scenarios/appliance.js'
import { askApi, git, remoteUrl } from '../scenarios/client.js'
import type { Podman } from './debian-root.js'

interface Service {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly security_opt?: readonly string[]
  readonly cap_drop?: readonly string[]
}

/** Replaces `${NAME:-default}` and `${NAME:?error}`, as from the file `.env`. */
const filled = (text: string, values: Readonly<Record<string, string>>) =>
  text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, other: string) => {
    const value = values[name] ?? (kind === '-' ? other : undefined)
    if (value === undefined) throw new Error(`${name}: ${other}`)
    return value
  })

/** The server of the tests listens only at a socket. */
async function listenFor(t: Test, socketPath: string): Promise<number> {
  const port = await freePort()
  const server: Server = createServer(client => {
    const database = connect(socketPath)
    for (const [from, to] of [
      [client, database],
      [database, client]
    ] as const) {
      from.on('error', () => to.destroy()).pipe(to)
    }
  }).listen(port, '127.0.0.1')
  t.teardown(() => void server.close())
  return port
}

/** The image has the name in the file. */
export async function testCompose(t: Test, podman: Podman): Promise<void> {
  const bucket = await testBucket(t)
  const database = await startTestServer()
  t.teardown(() => database.stop())
  const at = new URL(database.url)
  await makeDatabase(at, 'composed', undefined)
  const databasePort = await listenFor(t, at.searchParams.get('socket') ?? '')
  const text = filled(readFileSync(join(checkout, 'config/docker/compose.yaml'), 'utf8'), {
    DATABASE_URL: `mysql://root:${at.password}@127.0.0.1:${databasePort}/composed`,
    S3_ENDPOINT: bucket.endpoint,
    S3_BUCKET: 'files',
    S3_ACCESS_KEY_ID: 'S3RVER',
    S3_SECRET_ACCESS_KEY: 'S3RVER'
  })
  const { services } = parse(text, { merge: true }) as { services: Readonly<Record<string, Service>> }
  const [port, sshPort] = [await freePort(), await freePort()]
  const places = { GITSTEAD_HOST: '127.0.0.1', GITSTEAD_PORT: String(port), GITSTEAD_SSH_PORT: String(sshPort) }
  const run = (name: string, ...how: readonly string[]) => {
    const { command, environment, volumes, security_opt = [], cap_drop = [] } = services[name] as Service
    const options = [
      ...Object.entries({ ...environment, ...places }).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
      ...volumes.flatMap(volume => ['--volume', `compose_${volume}`]),
      ...security_opt.flatMap(option => ['--security-opt', option]),
      ...cap_drop.flatMap(capability => ['--cap-drop', capability])
    ]
    return podman.must(['run', '--name', name, '--network', 'host', ...options, ...how, 'gitstead', ...command])
  }
  await run('migrate')
  await run('server', '--detach')
  await run('worker', '--detach')
  const isHealthy = async () => (await podman.run(['healthcheck', 'run', 'server'])).code === 0
  await until('the server is healthy', isHealthy)

  const made = 'users create --username root --email root@example.org --name Root --admin --password-stdin --json'
  const user = await podman.run(
    ['exec', '--interactive', 'server', 'gitstead', ...made.split(' ')],
    'Rather-long-4711\n'
  )
  const api = { url: `http://127.0.0.1:${port}`, token: JSON.parse(user.said).private_token as string }
  await askApi(api, 'POST', '/projects', { name: 'demo' })
  const file = 'compile:\n  script:\n    - mkdir out\n    - id > out/id\n  artifacts:\n    paths: [out/]\n'
  const folder = t.testdir({ '.gitstead-ci.yml': file })
  await git(folder, ['init', '-q', '-b', 'master'])
  await git(folder, ['add', '.'])
  await git(folder, ['commit', '-q', '-m', 'build'])
  await git(folder, ['push', '-q', remoteUrl(api.url, 'root/demo', 'root', api.token), 'master'])
  const statusOf = async () =>
    (await askApi<{ status: string }[]>(api, 'GET', '/projects/1/builds')).json[0]?.status ?? 'none'
  await until('the build ends', async () => !['none', 'pending', 'running'].includes(await statusOf()))
  t.equal(await statusOf(), 'success', 'the worker builds in its sandbox')
  const before = bucket.requests
  t.equal((await askApi(api, 'GET', '/projects/1/builds/1/artifacts')).status, 200)
  t.ok(bucket.requests > before, 'its artifacts are in the bucket')
  await podman.must(['stop', '--time', '60', 'server', 'worker'])
  for (const name of ['server', 'worker']) {
    const [stopped] = JSON.parse(await podman.must(['inspect', name])) as [{ State: { ExitCode: number } }]
    t.equal(stopped.State.ExitCode, 0, `${name} ended by itself`)
  }
}
