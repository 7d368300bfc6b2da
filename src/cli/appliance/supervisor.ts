// Runs one child process of the appliance: starts it, watches it, and restarts it when it dies. The pause before each restart
// grows.
import { type ChildProcess, fork } from 'node:child_process'
import { config } from '../../config.js'
import type { Ready } from '../../lib/ready.js'
import { type InheritedSockets, passedOn } from '../../listening.js'
import { log } from '../../log.js'
import type { LogFile } from './log-file.js'

export interface ChildMessage {
  readonly ready?: Ready
  /** A fault that a restart would not fix, such as an invalid configuration. */
  readonly fatal?: string
}

export interface ChildOptions {
  readonly name: string
  readonly module: () => string
  /** Called at each start, because the configuration may have changed. */
  readonly environment: () => NodeJS.ProcessEnv
  readonly logFile: LogFile
  readonly nodeFlags: readonly string[]
  /** The child inherits these. */
  readonly sockets?: InheritedSockets
}

const LONGEST_PAUSE = 10_000
/** After a process ran at least this long, the pause is short again: it probably died of another cause than before. */
const HEALTHY_MS = 60_000
/** What a process gets to end by itself after its own limit (stop_timeout). */
const MORE_MS = 2000
/**
 * The start fails when the child ends this often before it is ready. Fewer early ends are harmless: the database may
 * start late, or another process may free the port late.
 */
const FAILURES = 4

export class Child {
  private process: ChildProcess | undefined
  private stopping = false
  private pause = 100
  private settled = false
  private failures = 0
  private timer: NodeJS.Timeout | undefined

  /** When the configuration asks for any free port, the child gets the same port again at its next start. */
  private port: number | undefined

  constructor(private readonly options: ChildOptions) {}

  get pid(): number | undefined {
    return this.process?.pid
  }

  /** Starts the child. Resolves when it is ready for the first time, and rejects when it cannot become ready. */
  start(): Promise<ChildMessage['ready']> {
    return new Promise((resolve, reject) => this.launch(resolve, reject))
  }

  /** Stops the child and starts it again. Rejects when it cannot become ready; then it stays down. */
  async restart(): Promise<void> {
    await this.stop()
    this.stopping = false
    this.settled = false
    this.failures = 0
    this.pause = 100
    await this.start()
  }

  async stop(): Promise<void> {
    this.stopping = true
    clearTimeout(this.timer)
    const { process: child } = this
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    child.kill('SIGTERM')
    const kill = setTimeout(() => child.kill('SIGKILL'), config().stop_timeout * 1000 + MORE_MS)
    await ended
    clearTimeout(kill)
  }

  private launch(resolve: (ready: ChildMessage['ready']) => void, reject: (error: Error) => void): void {
    const { name, module, environment, nodeFlags, logFile } = this.options
    const started = Date.now()
    const env = environment()
    if (env.GITSTEAD_PORT === '0' && this.port !== undefined) env.GITSTEAD_PORT = String(this.port)
    const passed = passedOn(this.options.sockets ?? {})
    const child = fork(module(), [], {
      env: { ...env, ...passed.environment },
      execArgv: [...nodeFlags],
      stdio: ['ignore', 1, 'pipe', ...passed.stdio, 'ipc']
    })
    this.process = child
    if (child.stderr) logFile.writeLinesOf(child.stderr)
    child.on('message', (message: ChildMessage) => {
      this.port = message.ready?.port ?? this.port
      if (message.ready && !this.settled) {
        this.settled = true
        resolve(message.ready)
      }
      if (message.fatal && !this.settled) {
        this.settled = true
        this.stopping = true
        reject(new Error(message.fatal))
      }
    })
    child.once('exit', (code, signal) => {
      if (this.stopping) return
      if (!this.settled && ++this.failures === FAILURES) {
        this.settled = true
        this.stopping = true
        return reject(new Error(`the ${name} ended ${FAILURES} times before it was ready: read its log above`))
      }
      if (Date.now() - started > HEALTHY_MS) this.pause = 100
      log().error({ child: name, code, signal, again_in_ms: this.pause }, 'a process of the appliance died')
      this.timer = setTimeout(() => this.launch(resolve, reject), this.pause)
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE)
    })
  }
}
