// A process that was started by the starter. It behaves like a ChildProcess, as far as the code in this folder needs it.
import { EventEmitter } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'

/** What a ChildProcess and a StartedProcess have in common. */
export interface Spawned extends EventEmitter {
  readonly pid?: number | undefined
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  kill(signal: NodeJS.Signals): boolean
  ref(): void
  unref(): void
}

/** Sends a signal to a process and its children. */
export function signalGroup({ pid }: Pick<Spawned, 'pid'>, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The whole group has already ended.
  }
}

/**
 * Emits `exit` when the process has ended, and `close` when its output has ended as well. The constructor connects to
 * the starter's socket three times, and the starter takes the connections in this order.
 */
export class StartedProcess extends EventEmitter implements Spawned {
  pid: number | undefined
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly stdin: Socket
  readonly stdout: Socket
  readonly stderr: Socket
  #held = true

  /** `onHold` is called when the process begins or ceases to keep this program alive. `onLost` gets the error of a failed connection. */
  constructor(
    path: string,
    private readonly onHold: (held: boolean) => void,
    onLost: (error: Error) => void
  ) {
    super()
    const stream = () => {
      const socket = connect(path)
      socket.on('error', error => {
        // After the start, the process may end before it has read everything; its exit shows why.
        if (this.pid === undefined) onLost(error)
      })
      return socket
    }
    this.stdin = stream()
    // No data arrives on stdin, but reading it reveals the end of the process at once.
    this.stdin.resume()
    this.stdout = stream()
    this.stderr = stream()
    onHold(true)
  }

  kill(signal: NodeJS.Signals): boolean {
    if (this.pid === undefined || this.#hasEnded()) return false
    try {
      return process.kill(this.pid, signal)
    } catch {
      return false
    }
  }

  ref(): void {
    this.#hold(true)
  }

  unref(): void {
    this.#hold(false)
  }

  /** The starter reports that the process runs. */
  began(pid: number): void {
    this.pid = pid
  }

  /** The starter reports that the process has ended. It may report the start and the end at the same moment, before anybody listens. */
  ended(code: number | null, signal: NodeJS.Signals | null): void {
    setImmediate(() => this.#end(code, signal))
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    this.exitCode = code
    this.signalCode = signal
    this.#hold(false)
    this.stdin.destroy()
    this.emit('exit', code, signal)
    const streams = [this.stdout, this.stderr]
    let open = 1
    const close = () => {
      if (--open === 0) this.emit('close', code, signal)
    }
    for (const stream of streams) {
      if (stream.closed) continue
      open++
      stream.once('close', close)
    }
    process.nextTick(() => {
      // Without a reader, remaining data would keep the stream open forever.
      for (const stream of streams) stream.resume()
      close()
    })
  }

  /** Gives the process up: it was not started, or its exit will never be known. */
  abandon(): void {
    this.#hold(false)
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy()
  }

  #hasEnded(): boolean {
    return this.exitCode !== null || this.signalCode !== null
  }

  #hold(held: boolean): void {
    if (this.#held === held || (held && this.#hasEnded())) return
    this.#held = held
    this.onHold(held)
  }
}
