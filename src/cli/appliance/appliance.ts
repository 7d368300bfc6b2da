import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { config, root } from '../../config.js'
import { type EmbeddedDatabase, startEmbedded } from '../../db/embedded/embedded.js'
import type { FirstRun } from '../../lib/ready.js'
import type { InheritedSockets } from '../../listening.js'
import { log } from '../../log.js'
import { fullVersion } from '../../version.js'
import type { LogFile } from './log-file.js'
import { moduleOf, type ProcessName } from './process-modules.js'
import { Child } from './supervisor.js'

export interface Appliance {
  /** Resolves when all processes answer. Rejects with Misconfigured or a child's first error. */
  readonly ready: Promise<{ readonly url: string; readonly firstRun: FirstRun | undefined }>
  /**
   * Restarts the server and then the worker, with the current configuration. The database keeps running. Rejects when one
   * of them cannot start.
   */
  restart(): Promise<void>
  /** May be called before the appliance is ready. */
  stop(): Promise<void>
}

/**
 * MiB of a semi-space for new objects in each process, which has two of them. A busy server allocates 100 KB per request:
 * with 8 MiB it spent a seventh of its time on garbage collection. An idle server frees the memory (lib/idle-memory.ts).
 */
const NEW_SPACE = { server: 32, worker: 8 }
/** Its size at the start, in MiB, which reads much that stays: from 1 MiB on, V8 would copy all of that several times. */
const FIRST_NEW_SPACE = 8
/**
 * How much the old objects of a process may grow, in percent, before they are collected. Without a limit, up to 300: with long texts, a
 * server kept twice as much memory as garbage. With 50, a server with large caches spent a fifteenth of its time on looking through them.
 */
const OLD_SPACE_GROWTH = { server: 100, worker: 50 }
/**
 * Makes the C library return freed buffers to the system. By default it raises the threshold for large buffers to the size
 * of the largest one so far, up to 32 MB, and keeps smaller ones. The units in config/systemd set the same.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }

/** Node.js keeps compiled code by the path of its module, and never removes any. */
const PROGRAM = createHash('sha256').update([root, fullVersion, process.version].join('\n')).digest('hex').slice(0, 16)
/** Where server and worker keep compiled code: the user of the appliance may not write to the folder of the program, as commands do. */
const compiledFolder = () => join(config().home, 'run/compiled', PROGRAM)

/** Starts all processes. The folders of the home must exist. The server listens at the sockets, if there are any. */
export function startAppliance(logFile: LogFile, sockets: InheritedSockets = {}): Appliance {
  void removeOldCode()
  const server = child('server', logFile, sockets)
  const worker = child('worker', logFile)
  const database = config().database.url === null ? new WatchedDatabase() : undefined
  // The children load their modules while the database starts, and wait for it.
  const ready = Promise.all([server.start(), worker.start(), database?.start()]).then(([found]) => {
    const host = config().host.includes(':') ? `[${config().host}]` : config().host
    return { url: `http://${host}:${found?.port ?? config().port}`, firstRun: found?.firstRun }
  })
  return {
    ready,
    restart: async () => {
      await ready
      await server.restart()
      await worker.restart()
    },
    stop: async () => {
      await Promise.all([server.stop(), worker.stop()])
      await database?.stop()
    }
  }
}

/** The flags of Node.js for the memory of a process. bin/gitstead gives the same to processes that run without `up`. */
export const memoryFlags = (name: ProcessName): readonly string[] => [
  `--min-semi-space-size=${FIRST_NEW_SPACE}`,
  `--max-semi-space-size=${NEW_SPACE[name]}`,
  `--heap-growing-percent=${OLD_SPACE_GROWTH[name]}`
]

function child(name: ProcessName, logFile: LogFile, sockets?: InheritedSockets): Child {
  const environment = () => {
    const { home, host, port } = config()
    const own = { NODE_ENV: 'production', GITSTEAD_HOME: home, GITSTEAD_HOST: host, GITSTEAD_PORT: String(port) }
    return { ...ALLOCATOR, NODE_COMPILE_CACHE: compiledFolder(), ...process.env, ...own }
  }
  return new Child({ name, module: () => moduleOf(name), environment, logFile, nodeFlags: memoryFlags(name), sockets })
}

/** Removes what other programs have compiled. A process of one that still runs compiles again at its next start. */
async function removeOldCode(): Promise<void> {
  const folder = dirname(compiledFolder())
  const names = await readdir(folder).catch(() => [])
  // Another process may remove the same files, and nothing depends on the removal.
  for (const name of names)
    if (name !== PROGRAM) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)
}

/** Runs the embedded database, and restarts it when it dies. */
class WatchedDatabase {
  private running: EmbeddedDatabase | undefined
  private stopping = false

  async start(): Promise<void> {
    await this.launch()
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.running?.stop()
  }

  private async launch(): Promise<void> {
    const database = await startEmbedded()
    this.running = database
    if (this.stopping) return database.stop()
    void database.ended.then(() => this.again())
  }

  private async again(pause = 100): Promise<void> {
    if (this.stopping) return
    log().error({ again_in_ms: pause }, 'the database died')
    await sleep(pause)
    if (this.stopping) return
    await this.launch().catch(error => {
      log().error({ error: String(error) }, 'the database did not start')
      return this.again(Math.min(pause * 2, 10_000))
    })
  }
}
