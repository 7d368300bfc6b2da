// Starts git through a small process (program.ts), once this program has declared itself large. Commands are small themselves.
//
// The starter begins in the background when the first process is needed; this program starts that process itself. It ends after
// it has had nothing to do for a while: an idle appliance has no starter. When it fails, everything works without it.
import { type ChildProcess, fork } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FromStarter, StartMessage } from './messages.js'
import { StartedProcess, signalGroup } from './started.js'

/** Milliseconds without a process after which the starter ends. */
const IDLE = 20_000
/** Milliseconds after a failure in which this program works without a starter. */
const PAUSE = 10_000
/** The maximum number of programs that are being started at once: the kernel keeps hundreds of connections until the starter takes them. */
const MOST_AT_ONCE = 50
const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url))
/** The starter needs very little memory. */
const NODE_FLAGS = ['--max-old-space-size=64', '--max-semi-space-size=1']

interface Entry {
  readonly process: StartedProcess
  readonly begun: (process: StartedProcess | null, error?: string) => void
}

/** The settings of a large program. */
export interface LargeProgram {
  /** The path of a socket, in a folder that is private to the user. */
  readonly socket: string
  /** Receives the reason why the starter failed. Everything works without it. */
  readonly onFailure: (error: Error) => void
}

let large: LargeProgram | undefined
let starter: Starter | undefined
let notBefore = 0

/** Makes this program start git through a smaller one. Call it in programs that grow large. */
export function startBySmallProgram(program: LargeProgram): void {
  large = program
}

/**
 * Starts a program through the starter, in a separate process group. Returns null when the caller has to start it.
 * Rejects when the program cannot be started.
 */
export async function startElsewhere(what: Omit<StartMessage, 'id'>): Promise<StartedProcess | null> {
  if (!large) return null
  if (!starter && Date.now() >= notBefore) starter = new Starter(large)
  return (await starter?.start(what)) ?? null
}

/** Ends the starter, and the programs that it runs. */
export function closeStarter(): void {
  starter?.close()
}

class Starter {
  readonly #child: ChildProcess
  readonly #entries = new Map<number, Entry>()
  #last = 0
  #begun = 0
  #held = 0
  #listens = false
  #idle: NodeJS.Timeout | undefined

  constructor(private readonly program: LargeProgram) {
    rmSync(program.socket, { force: true })
    const child = fork(PROGRAM, [program.socket], {
      execArgv: NODE_FLAGS,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc']
    })
    this.#child = child
    child.on('message', (message: FromStarter) => this.#take(message))
    child.once('error', error => this.#fail(error))
    child.once('exit', () => this.#fail(new Error('it ended')))
    child.unref()
    child.channel?.unref()
  }

  async start(what: Omit<StartMessage, 'id'>): Promise<StartedProcess | null> {
    if (!this.#listens || this.#entries.size - this.#begun >= MOST_AT_ONCE) return null
    clearTimeout(this.#idle)
    const id = ++this.#last
    const process = new StartedProcess(
      this.program.socket,
      held => this.#hold(held),
      error => this.#fail(error)
    )
    return await new Promise((resolve, reject) => {
      const begun = (started: StartedProcess | null, error?: string) =>
        error === undefined ? resolve(started) : reject(new Error(error))
      this.#entries.set(id, { process, begun })
      const message: StartMessage = { ...what, id }
      this.#child.send(message, error => error && this.#fail(error))
    })
  }

  close(): void {
    this.#end()
    if (this.#child.connected) this.#child.disconnect()
  }

  #take(message: FromStarter): void {
    if ('listening' in message) {
      this.#listens = true
      this.#wait()
      return
    }
    const entry = this.#entries.get(message.id)
    if (!entry) return
    if ('pid' in message) {
      this.#begun++
      entry.process.began(message.pid)
      entry.begun(entry.process)
    } else {
      this.#entries.delete(message.id)
      if ('error' in message) {
        entry.process.abandon()
        entry.begun(null, message.error)
      } else {
        this.#begun--
        entry.process.ended(message.code, message.signal)
      }
      if (this.#entries.size === 0) this.#wait()
    }
  }

  #wait(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.close(), IDLE)
    this.#idle.unref()
  }

  #hold(held: boolean): void {
    this.#held += held ? 1 : -1
    if (this.#held > 0) this.#child.channel?.ref()
    else this.#child.channel?.unref()
  }

  #fail(error: Error): void {
    if (starter !== this) return
    this.program.onFailure(error)
    notBefore = Date.now() + PAUSE
    this.#end()
    this.#child.kill('SIGKILL')
  }

  /**
   * Programs that have not started yet are started in another way. Programs that are running have lost the process that
   * reports their end.
   */
  #end(): void {
    if (starter === this) starter = undefined
    clearTimeout(this.#idle)
    this.#listens = false
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    for (const { process: started, begun } of entries) {
      if (started.pid === undefined) {
        started.abandon()
        begun(null)
      } else {
        signalGroup(started, 'SIGKILL')
        started.ended(null, 'SIGKILL')
      }
    }
    rmSync(this.program.socket, { force: true })
  }
}
