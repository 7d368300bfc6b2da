// Programs that serve until a test ends, such as the nodes of a database cluster.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clean } from '../scenarios/appliance.js'

const LIMIT_MS = 120_000

/** Each process has a network of 254 loopback addresses. */
export const ownNetwork = (): string => `127.${1 + (process.pid % 250)}.${1 + (Math.trunc(process.pid / 250) % 250)}`

export interface Daemon {
  readonly name: string
  readonly address: string
  /** Starts it, and waits until it serves. */
  start(): Promise<void>
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>
  /** Ends it in order. */
  stop(): Promise<void>
  /** Stops or continues all its threads: a machine that hangs keeps its connections open. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  isRunning(): boolean
}

/**
 * A process in the foreground, whose output is the file `log` of its folder. `targetOf` finds the process that gets the signals, if
 * that is not the started one.
 */
export function daemonOf(
  name: string,
  address: string,
  folder: string,
  command: () => readonly string[],
  targetOf: (pid: number) => number | undefined = pid => pid
): Daemon {
  let child: ChildProcess | undefined
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const signal = (kind: NodeJS.Signals) => {
    const target = targetOf(child?.pid ?? 0)
    if (target && isRunning()) process.kill(target, kind)
  }
  const end = async (kind: NodeJS.Signals) => {
    if (!child || !isRunning()) return
    const exited = once(child, 'exit')
    signal(kind)
    await exited
  }
  return {
    name,
    address,
    isRunning,
    start: async () => {
      const log = openSync(join(folder, 'log'), 'a')
      const [program = '', ...args] = command()
      // A folder above may be closed to the account of the daemon.
      child = spawn(program, args, { stdio: ['ignore', log, log], cwd: '/', env: clean() })
      closeSync(log)
      await once(child, 'spawn')
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    signal
  }
}

/** A daemon that ended while somebody waited for it. */
export class Ended extends Error {}

/** Asks until the answer is true. Throws the last error after two minutes. */
export async function eventually(what: string, ask: () => Promise<boolean>): Promise<void> {
  const limit = Date.now() + LIMIT_MS
  for (;;) {
    let last: unknown
    try {
      if (await ask()) return
    } catch (error) {
      if (error instanceof Ended) throw error
      last = error
    }
    if (Date.now() > limit) throw new Error(`it did not happen: ${what}`, { cause: last })
    await sleep(100)
  }
}
