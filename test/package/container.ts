// The image that is made from the Debian package, run by Podman.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../helpers/until.js'
import { root as checkout, freePort } from '../scenarios/appliance.js'
import { testCompose } from './compose.js'
import { Podman } from './debian-root.js'

/** `base` is a folder with the files of a Debian that has the dependencies of the package: this machine cannot load images. */
export async function testContainer(t: Test, base: string, debian: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-image-'))
  const engine = join(folder, 'podman')
  mkdirSync(engine)
  const podman = new Podman(engine)
  t.teardown(async () => {
    await podman.run(['rm', '--all', '--force', '--time', '2'])
    rmSync(folder, { recursive: true, force: true })
  })
  const archive = join(folder, 'base.tar')
  spawnSync('tar', ['-C', base, '-cf', archive, '--exclude=./proc/*', '--exclude=./sys/*', '--exclude=./dev/*', '.'])
  await podman.must(['import', '--quiet', archive, 'localhost/base'])
  rmSync(archive)
  const file = join(checkout, 'config/docker/Containerfile')
  const how = ['--layers=false', '--network', 'host', '--format', 'docker', '--build-arg', 'BASE=localhost/base']
  await podman.must(['build', ...how, '--file', file, '--tag', 'gitstead', dirname(debian)])

  const [image] = JSON.parse(await podman.must(['image', 'inspect', 'gitstead']))
  t.same(Object.keys(image.Config.Volumes), ['/var/lib/gitstead'], 'one volume')
  t.equal(image.Config.User, 'gitstead')

  const [port, sshPort] = [await freePort(), await freePort()]
  const places = { GITSTEAD_HOST: '127.0.0.1', GITSTEAD_PORT: String(port), GITSTEAD_SSH_PORT: String(sshPort) }
  const environment = Object.entries(places).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  // As the documentation says, for builds.
  const forBuilds = ['--cap-drop', 'ALL', '--security-opt', 'seccomp=unconfined', '--security-opt', 'unmask=ALL']
  const run = ['--network', 'host', '--volume', 'home:/var/lib/gitstead', ...environment, ...forBuilds]
  const start = (name: string) => podman.must(['run', '--detach', '--name', name, ...run, 'gitstead'])
  const inside = async (name: string, ...command: string[]) => (await podman.must(['exec', name, ...command])).trim()
  const isHealthy = async (name: string) => (await podman.run(['healthcheck', 'run', name])).code === 0
  const logs = async (name: string) => podman.must(['logs', name])

  await start('first')
  await until('the container is healthy', () => isHealthy('first'))
  t.equal(await inside('first', 'id', '-u'), '2222', 'it does not run as root')
  t.match(await logs('first'), `ready http://127.0.0.1:${port}`)
  const made = ['users', 'create', '--username', 'root', '--email', 'root@example.org', '--name', 'Root', '--admin']
  const user = await podman.run(
    ['exec', '--interactive', 'first', 'gitstead', ...made, '--password-stdin'],
    'Rather-long-4711\n'
  )
  t.equal(user.code, 0, user.said)
  t.match((await podman.run(['exec', 'first', 'gitstead', 'doctor', '--only', 'node,git,mariadb'])).said, /ok +mariadb/)

  await podman.must(['stop', '--time', '60', 'first'])
  const [stopped] = JSON.parse(await podman.must(['inspect', 'first']))
  t.equal(stopped.State.ExitCode, 0, 'it ended by itself')
  t.match(await logs('first'), 'appliance stops')
  t.notOk(await isHealthy('first'))

  await start('second')
  await until('the next container is healthy', () => isHealthy('second'))
  t.match(await inside('second', 'gitstead', 'users', 'list'), 'root@example.org', 'the volume has all data')
  await podman.must(['rm', '--force', '--time', '2', 'second'])
  await t.test('the services of the compose file', t => testCompose(t, podman))
}
