// Three real Galera nodes behind haproxy, with the files of config/cluster, on loopback addresses of their own.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { asPart, type PartName } from '../chaos/network.js'
import { type Daemon, daemonOf, Ended, eventually, ownNetwork } from '../helpers/daemons.js'
import { root } from '../scenarios/appliance.js'

export interface Node extends Daemon {
  /** `database.url` of this node only. */
  readonly url: string
  /** Connects to the node as root. */
  connect(): Promise<Connection>
  /** Waits until the node has what the others have. */
  inStep(): Promise<void>
}

export interface Galera {
  readonly nodes: readonly [Node, Node, Node]
  /** `database.url` through haproxy. */
  readonly url: string
  /** The first three numbers of all its addresses. */
  readonly network: string
  proxy: Daemon
  /** The name of the node that haproxy gives new connections to. */
  writer(): Promise<string>
  stop(): Promise<void>
}

/** How long after its death the service of Debian starts MariaDB again (`RestartSec`). */
const RESTART_MS = 5000
const PASSWORD = 'only-letters-and-digits'
/** Where root's daemons run: rsync, which copies the first state, refuses files of root. */
const ACCOUNT = 'mysql'
const isRoot = process.getuid?.() === 0

/** Returns a file of config/cluster with addresses of this network. */
const configured = (file: string, network: string) =>
  readFileSync(join(root, 'config/cluster', file), 'utf8').replaceAll('10.0.0.', `${network}.`)

/** Returns variables of the environment for a node. */
type EnvironmentOf = (part: PartName) => Readonly<Record<string, string>>

/**
 * Starts three nodes and haproxy, with their files in a folder. The database `gitstead` is empty. `sections` are more files of
 * config/cluster for haproxy.
 */
export async function startGalera(
  folder: string,
  network = ownNetwork(),
  sections: readonly string[] = [],
  environmentOf: EnvironmentOf = () => ({})
): Promise<Galera> {
  // The account of the daemons must reach its files.
  chmodSync(folder, 0o755)
  const nodes = [1, 2, 3].map(number => node(folder, network, number, environmentOf)) as unknown as Galera['nodes']
  const [first, ...others] = nodes
  await first.start()
  const connection = await first.connect()
  for (const statement of accounts()) await connection.query(statement)
  await connection.end()
  await Promise.all(others.map(each => each.start()))
  const made = proxy(folder, network, sections)
  await made.start()
  const url = `mysql://gitstead:${PASSWORD}@${made.address}:3306/gitstead`
  await eventually('a connection through haproxy', async () => (await writerAt(url)) !== undefined)
  return {
    nodes,
    url,
    network,
    proxy: made,
    writer: async () => (await writerAt(url)) ?? '',
    stop: async () => {
      await made.stop()
      // Nodes that end together need no new view of the cluster.
      await Promise.all(nodes.map(each => each.kill()))
    }
  }
}

/** The statements of docs/operate/cluster.md, for every address. */
function accounts(): readonly string[] {
  return [
    "create user gitstead_check@'%' with max_user_connections 20 max_statement_time 1",
    'create database gitstead character set utf8mb4 collate utf8mb4_unicode_ci',
    `create user gitstead@'%' identified by '${PASSWORD}'`,
    "grant all on gitstead.* to gitstead@'%'"
  ]
}

/** The lines of galera.cnf for one node, and what makes it small. */
function nodeFile(folder: string, network: string, number: number): string {
  const text = configured('galera.cnf', network)
    .replace('gcache.size=1G', 'gcache.size=64M')
    .split('\n')
    .map(line => (line.includes('# this node') ? ownLine(line, network, number) : line))
  const own = [
    `datadir = ${folder}/data`,
    `socket = ${folder}/mysql.sock`,
    `pid_file = ${folder}/pid`,
    `tmpdir = ${folder}`,
    `wsrep_sst_receive_address = ${network}.1${number}:4444`,
    'innodb_buffer_pool_size = 64M',
    'innodb_log_file_size = 16M',
    'performance_schema = OFF'
  ]
  return [...text, ...own, ''].join('\n')
}

const ownLine = (line: string, network: string, number: number) =>
  line.replaceAll(`${network}.11`, `${network}.1${number}`).replace('db1', `db${number}`)

function node(above: string, network: string, number: number, environmentOf: EnvironmentOf): Node {
  const name = `db${number}` as PartName
  const [address, folder] = [`${network}.1${number}`, join(above, name)]
  const file = join(folder, 'galera.cnf')
  mkdirSync(join(folder, 'data'), { recursive: true })
  writeFileSync(file, nodeFile(folder, network, number))
  if (number === 1) makeData(folder)
  if (isRoot) execFileSync('chown', ['-R', `${ACCOUNT}:`, folder])
  const connect = () => createConnection({ socketPath: join(folder, 'mysql.sock'), user: 'root' })
  let isNew = number === 1
  const daemon = daemonOf(name, address, folder, () => {
    const command = [
      ...asAccount(name),
      ...['env', ...Object.entries(environmentOf(name)).map(([key, value]) => `${key}=${value}`)],
      'mariadbd',
      `--defaults-file=${file}`,
      ...(isNew ? ['--wsrep-new-cluster'] : [])
    ]
    isNew = false
    return command
  })
  const inStep = () =>
    eventually(`${name} in step with the cluster: ${folder}/log`, async () => {
      if (!daemon.isRunning()) throw new Ended(`${name}: ${folder}/log`)
      const connection = await connect()
      try {
        const [[found]] = await connection.query<RowDataPacket[]>("show status like 'wsrep_local_state'")
        return found?.Value === '4'
      } finally {
        connection.destroy()
      }
    })
  let diedAt = Number.NEGATIVE_INFINITY
  return {
    ...daemon,
    connect,
    inStep,
    url: `mysql://gitstead:${PASSWORD}@${address}:3306/gitstead`,
    kill: async () => {
      await daemon.kill()
      diedAt = performance.now()
    },
    start: async () => {
      await sleep(Math.max(diedAt + RESTART_MS - performance.now(), 0))
      await daemon.start()
      await inStep()
    }
  }
}

function makeData(folder: string): void {
  const options = ['--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db']
  // A database that starts removes the temporary tables of all others from its folder for them.
  const env = { ...process.env, TMPDIR: folder }
  execFileSync('mariadb-install-db', [...options, `--datadir=${folder}/data`], { stdio: 'ignore', env })
}

/** The kernel ends the daemon together with this process. */
const asAccount = (part: PartName) => [
  'setpriv',
  ...(isRoot ? [`--reuid=${ACCOUNT}`] : []),
  ...asPart(part),
  '--pdeathsig',
  'KILL'
]

function proxy(above: string, network: string, sections: readonly string[]): Daemon {
  const folder = join(above, 'haproxy')
  mkdirSync(folder)
  const address = `${network}.21`
  // Its group marks its packets (chaos/network.ts).
  const text = configured('haproxy.cfg', network)
    .replace(/^ {2}(user|group) haproxy\n/gm, '')
    .replace('127.0.0.1:3306', `${address}:3306`)
  writeFileSync(join(folder, 'haproxy.cfg'), [text, ...sections.map(file => configured(file, network))].join('\n'))
  return daemonOf('haproxy', address, folder, () => [
    ...['setpriv', ...asPart('haproxy'), '--pdeathsig', 'KILL'],
    ...['haproxy', '-db', '-f', join(folder, 'haproxy.cfg')]
  ])
}

async function writerAt(url: string): Promise<string | undefined> {
  const connection = await createConnection({ uri: url, connectTimeout: 1000 })
  try {
    const [[found]] = await connection.query<RowDataPacket[]>('select @@wsrep_node_name as name')
    return found?.name
  } finally {
    connection.destroy()
  }
}
