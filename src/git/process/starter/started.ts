// A process that the starter has started. It behaves like a ChildProcess, as far as this folder's users go.
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
    // The whole group has already gone.
  }
}

/**
 * Emits `exit` when the process has ended, and `close` when its output has ended, too. It connects to the starter's socket when it
 * is made: three times, which the starter takes in this order.
 */
export class StartedProcess extends EventEmitter implements Spawned {
  pid: number | undefined
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly stdin: Socket
  readonly stdout: Socket
  readonly stderr: Socket
  #held = true

  /** `onHold` is told when it begins or ceases to keep this program alive. `onLost` gets what a connection failed with. */
  constructor(
    path: string,
    private readonly onHold: (held: boolean) => void,
    onLost: (error: Error) => void
  ) {
    super()
    const stream = () => {
      const socket = connect(path)
      socket.on('error', error => {
        // Later the process may end before it has read everything; its exit shows why.
        if (this.pid === undefined) onLost(error)
      })
      return socket
    }
    this.stdin = stream()
    // Nothing comes, but the end of the process shows at once.
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

  /** The starter tells that it runs. */
  began(pid: number): void {
    this.pid = pid
  }

  /** The starter tells that it has ended, perhaps in the same moment as that it runs: nobody may listen yet. */
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
      // Without a reader, what remains would keep the stream open for ever.
      for (const stream of streams) stream.resume()
      close()
    })
  }

  /** It was not started, or nobody knows what became of it. */
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
