// One child of the appliance: started, watched, started again when it dies, with a pause that grows.
import { type ChildProcess, fork } from 'node:child_process'
import { log } from '../log.js'

export interface ChildMessage {
  ready?: { port?: number }
  /** A fault of the configuration: starting again would not help. */
  fatal?: string
}

export interface ChildOptions {
  readonly name: string
  readonly module: string
  readonly environment: NodeJS.ProcessEnv
  readonly nodeFlags: readonly string[]
}

const LONGEST_PAUSE = 10_000
/** A process that lived this long died of something new. */
const HEALTHY_MS = 60_000
const STOP_MS = 20_000
/** Ends before the first readiness that are put up with: a database that comes late, a port that is freed late. */
const FAILURES = 4

export class Child {
  private process: ChildProcess | undefined
  private stopping = false
  private pause = 100
  private settled = false
  private failures = 0
  private timer: NodeJS.Timeout | undefined

  /** A port that was any free one stays the same when the child is started again. */
  private port: number | undefined

  constructor(private readonly options: ChildOptions) {}

  get pid(): number | undefined {
    return this.process?.pid
  }

  /** Starts the child; resolves when it is ready for the first time, rejects when it cannot be. */
  start(): Promise<ChildMessage['ready']> {
    return new Promise((resolve, reject) => this.launch(resolve, reject))
  }

  async stop(): Promise<void> {
    this.stopping = true
    clearTimeout(this.timer)
    const { process: child } = this
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    child.kill('SIGTERM')
    const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(kill)
  }

  private launch(resolve: (ready: ChildMessage['ready']) => void, reject: (error: Error) => void): void {
    const { name, module, environment, nodeFlags } = this.options
    const started = Date.now()
    const env = this.port === undefined ? environment : { ...environment, GITSTEAD_PORT: String(this.port) }
    const child = fork(module, [], { env, execArgv: [...nodeFlags], stdio: ['ignore', 1, 2, 'ipc'] })
    this.process = child
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
        return reject(new Error(`the ${name} ended ${FAILURES} times before it was ready: see its log above`))
      }
      if (Date.now() - started > HEALTHY_MS) this.pause = 100
      log().error({ child: name, code, signal, again_in_ms: this.pause }, 'a process of the appliance died')
      this.timer = setTimeout(() => this.launch(resolve, reject), this.pause)
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE)
    })
  }
}
