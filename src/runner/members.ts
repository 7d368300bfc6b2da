// Finds the processes of a running script, wherever they are.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ifAlive, processStatus } from '../lib/process-status.js'

/** The processes of one script. */
export interface Members {
  /** Returns their folders in /proc. The list is empty when the script has ended. */
  list(): Promise<string[]>
  /** Returns the folder that is / for the script, or undefined without a sandbox, and before and after the script. */
  root(): Promise<string | undefined>
  /**
   * Stops all processes except the first one of a sandbox, so that they do not change while they are counted. Returns the
   * function that lets them continue. Processes that the script itself had stopped stay stopped.
   */
  freeze(): Promise<() => void>
  /** The number of the first process of a sandbox. */
  readonly first?: number
}

const isNumber = (name: string) => /^\d+$/.test(name)

/**
 * A sandbox has its own /proc, which shows exactly its processes. All reads here are synchronous and wait for no other work of
 * this process: after a slow check, a build would be far above its limit.
 */
export function confinedMembers(first: number): Members {
  const rootNow = () => {
    const folder = `/proc/${first}/root`
    // While bubblewrap is still building the sandbox, and after the number was reused for another process, this is the root of
    // the machine, with all its processes.
    const inside = ifAlive(() => statSync(`${folder}/proc`))
    return inside && inside.dev !== statSync('/proc').dev ? folder : undefined
  }
  return {
    first,
    root: async () => rootNow(),
    list: async () => {
      const folder = rootNow()
      const names = folder === undefined ? [] : (ifAlive(() => readdirSync(`${folder}/proc`)) ?? [])
      return names.filter(isNumber).map(name => `${folder}/proc/${name}`)
    },
    freeze: () => freezeAll(async () => descendants(first))
  }
}

/**
 * Returns the numbers that the processes below the first one have outside of their sandbox. A process whose parent has ended
 * becomes a child of the first one, so none is missed.
 */
function descendants(first: number): number[] {
  const space = spaceOf(first)
  if (space === undefined || space === spaceOf('self')) return []
  const found: number[] = []
  for (let at = -1; at < found.length; at++) {
    const parent = found[at] ?? first
    for (const task of ifAlive(() => readdirSync(`/proc/${parent}/task`)) ?? []) {
      const children = ifAlive(() => readFileSync(`/proc/${parent}/task/${task}/children`, 'latin1')) ?? ''
      // The parent may have ended, and its number may already belong to another process elsewhere.
      for (const child of children.split(' ')) if (spaceOf(child) === space) found.push(Number(child))
    }
  }
  return found
}

const spaceOf = (process: number | string) => ifAlive(() => readlinkSync(`/proc/${process}/ns/pid`))

/**
 * A process may start others until it has stopped, which is a moment after the signal. So this repeats until all processes that
 * it found have stopped and there are no more, for `FREEZING_TIME` at most. A process that waits for a device stops only later.
 */
async function freezeAll(find: () => Promise<number[]>): Promise<() => void> {
  const seen = new Set<number>()
  const stopped: number[] = []
  for (const end = Date.now() + FREEZING_TIME; ; await delay(1)) {
    const settled = [...seen].every(isAtRest)
    const more = (await find()).filter(pid => !seen.has(pid))
    for (const pid of more) {
      seen.add(pid)
      if (!isStopped(pid) && signalProcess(pid, 'SIGSTOP')) stopped.push(pid)
    }
    if ((settled && more.length === 0) || Date.now() > end) break
  }
  return () => {
    for (const pid of stopped) signalProcess(pid, 'SIGCONT')
  }
}

/** Milliseconds. */
const FREEZING_TIME = 100

/** Returns true when a signal has stopped the process. */
export const isStopped = (pid: number) => /^[Tt]$/.test(stateOf(pid))

/** Returns true when the process can start no others: it has stopped, ended or disappeared. */
const isAtRest = (pid: number) => /^[TtZX]?$/.test(stateOf(pid))

/** The letter of the state; empty when the process no longer exists. */
const stateOf = (pid: number) => processStatus(pid)?.state ?? ''

function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // It has just ended.
    return false
  }
}

/** Without a sandbox: the processes whose environment contains `entry`. A process that clears its environment is not found. */
export function markedMembers(entry: string): Members {
  const find = async () => {
    const found: number[] = []
    for (const name of (await readdir('/proc')).filter(isNumber)) {
      const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
      if (environment.split('\0').includes(entry)) found.push(Number(name))
    }
    return found
  }
  return {
    root: async () => undefined,
    list: async () => (await find()).map(pid => `/proc/${pid}`),
    freeze: () => freezeAll(find)
  }
}
