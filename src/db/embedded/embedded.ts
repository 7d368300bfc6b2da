// A private MariaDB in HOME/mysql, on a unix socket, without a network port. The database process itself holds a kernel
// lock (flock), so the lock exists exactly as long as the process that uses the data.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../config.js'
import { Misconfigured, Unavailable } from '../../errors.js'
import { prepareHome, socketPath } from '../../home.js'
import { MACHINE_MEMORY, shareOf } from '../../lib/machine-memory.js'
import { commonOptions, dataFolder, makeDataFolder, REMEDY, writePasswordFile } from './folder.js'
import { keepLogSmall, openLog } from './log.js'
import { keepTemporaryTables } from './temporary-tables.js'

const SILENT_TRIES = 5

export interface EmbeddedDatabase {
  readonly pid: number
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Returns the path of the embedded server's unix socket. */
export const databaseSocket = () => socketPath('mysql.sock')
const noteFile = () => join(config().home, 'run/database.json')

export interface StartOptions {
  readonly transient?: boolean
  readonly setsPassword?: boolean
  readonly fullBelow?: number
}

/**
 * Starts the database of the home, and creates it first when it does not exist. Resolves when the database accepts
 * connections. Waits up to 20 s for a database that another process is about to stop. `transient` marks a database that
 * lives for one command. `setsPassword` gives the database the password of secrets.json, which it creates when it is missing.
 * `fullBelow` is the number of free bytes below which the disk counts as full.
 */
export async function startEmbedded(options: StartOptions = {}): Promise<EmbeddedDatabase> {
  prepareHome()
  if (!existsSync(dataFolder())) {
    requireServer()
    makeDataFolder()
  }
  const password = options.setsPassword ? writePasswordFile() : undefined
  const tables = await keepTemporaryTables(options.fullBelow)
  try {
    const { child, ended } = await launchReady(server(tables.folder, password))
    void ended.then(tables.end)
    void ended.then(keepLogSmall())
    writeFileSync(noteFile(), JSON.stringify({ owner: process.pid, transient: options.transient ?? false }))
    return { pid: child.pid ?? 0, ended, stop: () => stop(child, ended) }
  } catch (error) {
    tables.end()
    throw error
  } finally {
    if (password) rmSync(password, { force: true })
  }
}

interface Launched {
  readonly child: ChildProcess
  readonly ended: Promise<void>
}

/** Starts the server until it accepts connections. Throws Unavailable when it hangs again and again. */
async function launchReady(command: readonly string[]): Promise<Launched> {
  for (let attempt = 1; attempt <= 3; attempt++) {
    const launched = launch(command)
    if (await ready(launched.child)) return launched
    launched.child.kill('SIGKILL')
    await launched.ended
  }
  throw new Unavailable('the embedded database hung during its start, three times in a row')
}

/**
 * Starts the server so that the kernel kills it together with this process: a server that hangs in its start ignores
 * all other signals and keeps the lock.
 */
function launch(command: readonly string[]): Launched {
  const log = openLog()
  const lock = ['flock', '--no-fork', '--wait', '20', lockFile()]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...lock, ...command], {
    stdio: ['ignore', log, log],
    detached: true
  })
  closeSync(log)
  const ended = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  return { child, ended }
}

/**
 * Returns whether the database of the home accepts connections now, which process started it, and whether it lives for
 * one command only.
 */
export async function embeddedState(): Promise<{ up: boolean; transient: boolean; owner: number | null }> {
  // Without data there is no socket, and `databaseSocket` may create a folder.
  const up = existsSync(dataFolder()) && (await greeting()) === 'greets'
  try {
    const note = JSON.parse(readFileSync(noteFile(), 'utf8')) as { owner: number; transient: boolean }
    return { up, transient: note.transient, owner: note.owner }
  } catch {
    return { up, transient: false, owner: null }
  }
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await ended
  clearTimeout(timer)
}

/**
 * Returns true when the server accepts connections, and false when it hangs. MariaDB 10.11 loses a wake-up between two
 * threads once in some thousand starts. It then listens, so its recovery is over, but it never greets a client.
 */
async function ready(child: ChildProcess): Promise<boolean> {
  const limit = Date.now() + 60_000
  for (let silent = 0; Date.now() < limit; ) {
    if (child.exitCode !== null || child.signalCode !== null) {
      requireServer()
      throw new Unavailable(`the embedded database did not start: see ${config().home}/run/mysql.log`)
    }
    const state = child.pid && ownsLock(child.pid) ? await greeting() : 'away'
    if (state === 'greets') return true
    silent = state === 'silent' ? silent + 1 : 0
    if (silent === SILENT_TRIES) return false
    await sleep(10)
  }
  child.kill('SIGKILL')
  throw new Unavailable('the embedded database did not answer within 60 s')
}

/**
 * Returns true when the process runs under the name of the server, which means that flock has started it. Before that,
 * another server may answer on the socket.
 */
function ownsLock(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('mariadbd')
  } catch {
    return false
  }
}

/**
 * Asks the socket for a greeting, which a server sends to each client when it accepts connections. `silent`: a server
 * listens but says nothing for a second. `away`: no server answers.
 */
function greeting(): Promise<'greets' | 'silent' | 'away'> {
  return new Promise(resolve => {
    const socket = createConnection(databaseSocket())
    const done = (state: 'greets' | 'silent' | 'away') => {
      socket.destroy()
      resolve(state)
    }
    socket.setTimeout(1000, () => done('silent'))
    socket.once('data', () => done('greets'))
    socket.once('error', () => done('away'))
    socket.once('end', () => done('away'))
  })
}

const lockFile = () => join(config().home, 'run/database.lock')

function requireServer(): void {
  try {
    execFileSync('mariadbd', ['--no-defaults', '--version'], { stdio: 'ignore' })
  } catch {
    throw new Misconfigured(`mariadbd cannot be started: ${REMEDY}`)
  }
}

const MIB = 2 ** 20
const CACHE_SHARE = { part: 1 / 32, least: 64 * MIB, most: 512 * MIB }

/**
 * Returns the memory for caching tables, in bytes. The database takes it as it reads tables, so a small appliance stays
 * small. With a million builds and 64 MiB, most lists waited for the disk.
 */
export const cacheSize = (memory = MACHINE_MEMORY): number => config().database.cache ?? shareOf(memory, CACHE_SHARE)

/** Returns the command line of the server. It is sized for an appliance: 57 MB resident when idle. */
const server = (tables: string, initFile?: string) => [
  'mariadbd',
  ...commonOptions(dataFolder(), tables),
  ...(initFile === undefined ? [] : [`--init-file=${initFile}`]),
  `--socket=${databaseSocket()}`,
  `--pid-file=${join(config().home, 'run/mysql.pid')}`,
  '--skip-name-resolve',
  '--skip-symbolic-links',
  '--skip-log-bin',
  '--character-set-server=utf8mb4',
  '--collation-server=utf8mb4_unicode_ci',
  '--sql-mode=STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY',
  '--transaction-isolation=READ-COMMITTED',
  `--innodb-buffer-pool-size=${cacheSize()}`,
  '--innodb-log-file-size=32M',
  '--innodb-log-buffer-size=4M',
  '--innodb-flush-log-at-trx-commit=1',
  '--innodb-flush-method=O_DIRECT',
  '--innodb-lock-wait-timeout=10',
  '--key-buffer-size=1M',
  '--aria-pagecache-buffer-size=1M',
  '--performance-schema=OFF',
  '--query-cache-size=0',
  '--query-cache-type=0',
  '--max-connections=120',
  // A few threads serve all connections: a thread that ends a statement takes the next one of another connection.
  // Otherwise each connection has a separate thread that must be woken. Lists take 3 to 17 % less processor time. A
  // slow statement gets an additional thread after 50 ms. A timer looks for such statements this often, even in an idle server:
  // at 20 ms it took 0.14 s of processor time in a minute.
  '--thread-handling=pool-of-threads',
  '--thread-pool-stall-limit=50',
  '--max-allowed-packet=64M',
  '--table-open-cache=400',
  '--tmp-table-size=4M'
]
