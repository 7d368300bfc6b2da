// Upgrades two machines, one after another, from an earlier commit (GITSTEAD_TEST_OLD, EARLIER by default) to this one, while clients
// read, write and push through a proxy that checks the readiness of both servers. No request fails. The machines are two homes with
// shared folders, and two loopback addresses.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeDatabase, startTestServer } from '../helpers/database-server.js'
import { until } from '../helpers/until.js'
import { freePort, root } from '../scenarios/appliance.js'
import { Balancer } from './balancer.js'
import { startLoad } from './load.js'

/** A commit that is known to work as a whole: a number of commits before this one may name one between the halves of a change. */
const EARLIER = '5d1f4f4f0193b1b22b3407478094cff3dfa6a632'
const ADDRESSES = ['127.0.0.2', '127.0.0.3'] as const
/** Seconds. Short, so that a drain is soon noticed. */
const LEASE = '8'

/** A clone of the repository at the earlier commit, built; this one where that commit is missing, as in a shallow clone. */
function earlierProgram(t: Test, folder: string): string {
  const commit = process.env.GITSTEAD_TEST_OLD ?? EARLIER
  const at = join(folder, 'old')
  const added = spawnSync('git', ['-C', root, 'worktree', 'add', '--detach', at, commit], { encoding: 'utf8' })
  if (added.status !== 0) {
    t.comment(`from the same version, because there is no ${commit}: ${added.stderr.trim()}`)
    return root
  }
  t.teardown(() => void spawnSync('git', ['-C', root, 'worktree', 'remove', '--force', at]))
  symlinkSync(join(root, 'node_modules'), join(at, 'node_modules'))
  const built = spawnSync(process.execPath, ['scripts/build.mjs', '--no-manifest'], { cwd: at, encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`the earlier program was not built: ${built.stderr}`)
  return at
}

interface Machine {
  readonly home: string
  readonly host: string
}

class Appliance {
  private readonly running = new Map<string, ChildProcess>()

  constructor(
    private readonly port: number,
    private readonly environment: Record<string, string>
  ) {}

  urlOf({ host }: Machine): string {
    return `http://${host}:${this.port}`
  }

  /** Runs a command to its end. Returns its output; throws when it fails. */
  command(program: string, { home, host }: Machine, args: readonly string[], input = ''): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(program, 'bin/gitstead'), ...args], {
      env: this.variables(home, host),
      input,
      encoding: 'utf8'
    })
    if (status !== 0) throw new Error(`gitstead ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`)
    return stdout
  }

  /** As `systemctl start` does: it migrates, starts both processes, and returns when the server is ready. */
  async start(program: string, machine: Machine): Promise<void> {
    this.command(program, machine, ['db', 'migrate'])
    for (const name of ['server', 'worker']) {
      const child = spawn(process.execPath, [join(program, 'bin/gitstead'), name], {
        env: this.variables(machine.home, machine.host),
        stdio: ['ignore', 'ignore', 'inherit']
      })
      this.running.set(`${machine.host} ${name}`, child)
    }
    await until(`${machine.host} is up`, () => isUp(`${this.urlOf(machine)}/-/health`))
  }

  async stop({ host }: Machine): Promise<(number | null)[]> {
    const children = ['server', 'worker'].flatMap(name => this.running.get(`${host} ${name}`) ?? [])
    return Promise.all(
      children.map(async child => {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
        return child.exitCode
      })
    )
  }

  private variables(home: string, host: string): NodeJS.ProcessEnv {
    const others = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('GITSTEAD_') && name !== 'NODE_OPTIONS'
    )
    const own = { GITSTEAD_HOME: home, GITSTEAD_HOST: host, GITSTEAD_PORT: String(this.port) }
    return { ...Object.fromEntries(others), ...this.environment, ...own }
  }
}

const isUp = (url: string) =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false
  )

function makeHome(folder: string, name: string): string {
  const home = join(folder, name)
  mkdirSync(home, { mode: 0o700 })
  for (const shared of ['repositories', 'artifacts', 'traces', 'uploads']) {
    mkdirSync(join(folder, 'shared', shared), { recursive: true, mode: 0o700 })
    symlinkSync(join(folder, 'shared', shared), join(home, shared))
  }
  return home
}

t.test('two machines are upgraded under load, and no request fails', async t => {
  const folder = t.testdir()
  const old = earlierProgram(t, folder)
  const server = await startTestServer()
  t.teardown(() => server.stop())
  const database = new URL(server.url)
  await makeDatabase(database, 'rolling', undefined)
  database.pathname = '/rolling'
  const [one, two] = ADDRESSES.map((host, at) => ({ host, home: makeHome(folder, `home${at}`) })) as [Machine, Machine]
  const balancer = await Balancer.start()
  t.teardown(() => balancer.stop())
  const appliance = new Appliance(await freePort(), {
    GITSTEAD_DATABASE_URL: database.href,
    GITSTEAD_URL: balancer.url,
    GITSTEAD_SSH_ENABLED: 'false',
    GITSTEAD_LOG_LEVEL: 'warn',
    GITSTEAD_QUEUE_LEASE: LEASE,
    GITSTEAD_QUEUE_CONCURRENCY_BUILDS: '0'
  })
  t.teardown(() => Promise.all([one, two].map(machine => appliance.stop(machine))))
  await appliance.start(old, one)
  const { private_token: token } = JSON.parse(
    appliance.command(
      old,
      one,
      [
        ...['users', 'create', '--username', 'root', '--email', 'root@example.org', '--name', 'Root', '--admin'],
        ...['--password-stdin', '--json']
      ],
      'a long password\n'
    )
  ) as { private_token: string }
  for (const name of readdirSync(one.home).filter(each => /^(secrets\.json|ssh_host_.*)$/.test(each))) {
    copyFileSync(join(one.home, name), join(two.home, name))
  }
  await appliance.start(old, two)
  for (const machine of [one, two]) balancer.add(appliance.urlOf(machine))

  const load = await startLoad(join(folder, 'clone'), balancer.url, token)
  await load.more(3)
  for (const machine of [one, two]) {
    // The earlier program may not know how to drain, so the proxy takes the server out, as with nginx.
    await balancer.takeOut(appliance.urlOf(machine))
    t.same(await appliance.stop(machine), [0, 0], `the earlier program of ${machine.host}`)
    await load.more(1)
    await appliance.start(root, machine)
    balancer.bringBack(appliance.urlOf(machine))
    await load.more(2)
  }
  // The next upgrade, as the page on installation describes it.
  const id = readFileSync(join(one.home, 'run/machines'), 'utf8').trim().split('\n').at(-1) ?? ''
  const { machines } = JSON.parse(appliance.command(root, one, ['machines', 'list', '--json']))
  t.match(
    machines.find((machine: { id: string }) => machine.id === id),
    { state: 'live', server: true, worker: true }
  )
  appliance.command(root, one, ['machines', 'drain', id, '--wait', '--timeout', '60'])
  await until('the proxy knows', () => !balancer.uses(appliance.urlOf(one)))
  t.same(await appliance.stop(one), [0, 0])
  await load.more(1)
  await appliance.start(root, one)
  t.notOk(await isUp(`${appliance.urlOf(one)}/-/readiness`), 'it is still drained')
  appliance.command(root, one, ['machines', 'undrain', id])
  await until('the proxy uses it again', () => balancer.uses(appliance.urlOf(one)))
  await load.more(2)

  const { failures, acknowledged, found } = await load.end()
  t.same([...failures, ...balancer.faults], [])
  t.same(found, acknowledged, 'every acknowledged issue is there, once, and the last push')
})
