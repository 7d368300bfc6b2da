// A whole cluster on loopback addresses of this machine: three database nodes behind haproxy, a bucket, and two machines with a
// server and a worker each. Each machine has a storage in a folder that both see. Each is a namespace of processes: to Gitstead,
// that is a machine.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Galera, startGalera } from '../galera/galera.js'
import { type Daemon, daemonOf, Ended, eventually, ownNetwork } from '../helpers/daemons.js'
import { gitstead, program } from '../scenarios/appliance.js'
import { clockOf } from './clocks.js'
import { asPart, Network, type Part, type PartName } from './network.js'

export interface Machine {
  readonly name: PartName
  readonly home: string
  readonly url: string
  readonly server: Daemon
  readonly worker: Daemon
  /** Starts what does not run. */
  start(): Promise<void>
  /** Ends all its processes at once. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export interface Cluster {
  /** The address for clients: haproxy shares the requests out to both servers. */
  readonly url: string
  readonly rows: Galera
  readonly bucket: Daemon
  readonly machines: readonly [Machine, Machine]
  /** What connects all of these. */
  readonly network: Network
  /** The environment of commands on a machine. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** The folders that both machines see. */
const SHARED = ['repositories', 'artifacts', 'traces', 'uploads']
const PORT = 8080

/** Starts everything in a folder. `more` is added to the environment of the machines. */
export async function startCluster(folder: string, more: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  const network = ownNetwork()
  const between = new Network(network, partsOf(network))
  const rows = await startGalera(folder, network, ['servers.cfg'], clockOf)
  const bucket = bucketOf(folder, `${network}.31`)
  await bucket.start()
  const url = `http://${network}.20:${PORT}`
  const environment = {
    GITSTEAD_HOOKS_ALLOW: '127.0.0.1',
    ...more,
    GITSTEAD_URL: url,
    GITSTEAD_DATABASE_URL: rows.url,
    GITSTEAD_UPLOADS_BUCKET: 'true',
    GITSTEAD_ARTIFACTS_S3_BUCKET: 'gitstead',
    GITSTEAD_ARTIFACTS_S3_ENDPOINT: `http://${bucket.address}:9000`,
    GITSTEAD_ARTIFACTS_S3_PATH_STYLE: 'true',
    GITSTEAD_ARTIFACTS_S3_ACCESS_KEY_ID: 'S3RVER',
    GITSTEAD_ARTIFACTS_S3_SECRET_ACCESS_KEY: 'S3RVER'
  }
  for (const name of SHARED) mkdirSync(join(folder, 'shared', name), { recursive: true, mode: 0o700 })
  const [first, second] = [1, 2].map(number => machine(folder, `${network}.2${number}`, number, environment))
  if (!first || !second) throw new Error('a cluster has two machines')
  const migrated = await gitstead(['db', 'migrate', '--home', first.home], { environment })
  if (migrated.code !== 0) throw new Error(`db migrate ended with ${migrated.code}: ${migrated.stderr}`)
  await first.start()
  // The keys of the first machine are those of all.
  for (const name of readdirSync(first.home).filter(name => /^(secrets\.json|ssh_host_.*)$/.test(name)))
    copyFileSync(join(first.home, name), join(second.home, name))
  await second.start()
  await eventually('both servers behind haproxy', async () => (await fetch(`${url}/-/readiness`)).ok)
  return {
    url,
    rows,
    bucket,
    machines: [first, second],
    network: between,
    environment,
    stop: async () => {
      between.close()
      await Promise.all([first.stop(), second.stop()])
      await bucket.stop()
      await rows.stop()
    }
  }
}

const partsOf = (network: string): Part[] => [
  ...([1, 2, 3] as const).map(number => ({ name: `db${number}` as const, address: `${network}.1${number}` })),
  ...([1, 2] as const).map(number => ({ name: `app${number}` as const, address: `${network}.2${number}`, port: PORT })),
  { name: 'haproxy', address: `${network}.21`, port: 3306 },
  { name: 'bucket', address: `${network}.31` }
]

function bucketOf(above: string, address: string): Daemon {
  const folder = join(above, 'bucket')
  mkdirSync(join(folder, 'files'), { recursive: true })
  const file = new URL('bucket-process.js', import.meta.url).pathname
  const daemon = daemonOf('bucket', address, folder, () => [
    ...['setpriv', ...asPart('bucket'), '--pdeathsig', 'KILL'],
    ...[process.execPath, file, address, '9000', join(folder, 'files')]
  ])
  return {
    ...daemon,
    start: async () => {
      await daemon.start()
      // It refuses a request without a signature, which is an answer.
      await eventually(
        'an answer of the bucket',
        async () => (await fetch(`http://${address}:9000/gitstead`)).status > 0
      )
    }
  }
}

function machine(
  above: string,
  address: string,
  number: number,
  environment: Readonly<Record<string, string>>
): Machine {
  const name = `app${number}` as PartName
  const mark = ['setpriv', ...asPart(name)]
  const home = join(above, name, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  for (const shared of SHARED) symlinkSync(join(above, 'shared', shared), join(home, shared))
  const namespace = new Namespace()
  const own = {
    ...environment,
    ...clockOf(name),
    GITSTEAD_HOST: address,
    GITSTEAD_PORT: String(PORT),
    GITSTEAD_CLUSTER_ADDRESS: `http://${address}:${PORT}`,
    GITSTEAD_REPOSITORIES_STORAGES: name
  }
  const role = (kind: 'server' | 'worker', isReady: (folder: string) => Promise<boolean>): Daemon => {
    const folder = join(above, name, kind)
    mkdirSync(folder)
    writeFileSync(join(folder, 'log'), '')
    const daemon = daemonOf(
      `${kind} of ${name}`,
      address,
      folder,
      () => namespace.enter([...mark, 'env', ...assignments(own), process.execPath, program, kind, '--home', home]),
      childOf
    )
    return {
      ...daemon,
      start: async () => {
        if (daemon.isRunning()) return
        await namespace.open()
        await daemon.start()
        await eventually(`${kind} of ${name} ready: ${folder}/log`, async () => {
          if (!daemon.isRunning()) throw new Ended(readFileSync(join(folder, 'log'), 'utf8').slice(-2000))
          return isReady(folder)
        })
      }
    }
  }
  const url = `http://${address}:${PORT}`
  const server = role('server', async () => (await fetch(`${url}/-/readiness`)).ok)
  const starts = (folder: string) => readFileSync(join(folder, 'log'), 'utf8').split('worker ready').length
  let started = 1
  const worker = role('worker', async folder => starts(folder) > started)
  const startWorker = async () => {
    started = starts(join(above, name, 'worker'))
    await worker.start()
  }
  return {
    name,
    home,
    url,
    server,
    worker: { ...worker, start: startWorker },
    start: async () => void (await Promise.all([server.start(), startWorker()])),
    kill: async () => {
      await namespace.kill()
      await Promise.all([server.kill(), worker.kill()])
    },
    stop: async () => {
      await Promise.all([server.stop(), worker.stop()])
      await namespace.kill()
    }
  }
}

/** The processes of one machine. When the first of them ends, the kernel ends all. */
class Namespace {
  private holder: ChildProcess | undefined
  private opened: Promise<void> | undefined

  open(): Promise<void> {
    this.opened ??= this.begin()
    return this.opened
  }

  private async begin(): Promise<void> {
    const args = ['--pdeathsig', 'KILL', 'unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
    const holder = spawn('setpriv', [...args, 'sleep', 'infinity'], { stdio: 'ignore' })
    this.holder = holder
    await eventually('a namespace of processes', async () => childOf(holder.pid ?? 0) !== undefined)
  }

  enter(command: readonly string[]): readonly string[] {
    const target = childOf(this.holder?.pid ?? 0)
    return ['nsenter', '--target', String(target), '--pid', '--mount', '--', ...command]
  }

  async kill(): Promise<void> {
    const { holder } = this
    this.holder = undefined
    this.opened = undefined
    if (!holder) return
    const exited = once(holder, 'exit')
    const first = childOf(holder.pid ?? 0)
    if (first) process.kill(first, 'SIGKILL')
    await exited
  }
}

function childOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    return Number(first) || undefined
  } catch {
    return undefined
  }
}

const assignments = (environment: Readonly<Record<string, string>>) =>
  Object.entries(environment).map(([name, value]) => `${name}=${value}`)
