// The name of this machine, and of its processes as owners of rows. A machine is a boot of a kernel, a namespace of processes and
// a home: two containers are two machines, and so are two homes in one container.
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { config } from '../config.js'
import { bootName } from '../lib/boot.js'
import { ifAlive, startOf } from '../lib/process-status.js'

// Cached, because neither changes while this process runs. Only tests change the home.
let here: { readonly home: string; readonly machine: string; readonly process: string } | undefined

function names() {
  const { home } = config()
  if (here?.home === home) return here
  const machine = `${bootName()}${readHome(home)}`
  const found = { home, machine, process: `${machine}#${process.pid}#${startOf(process.pid) ?? 0}` }
  // The folder gets a number of its own when it is made.
  if (readHome(home) !== '') here = found
  return found
}

/** Identifies this machine. A pid refers to the same process for two processes only when this value is equal. */
export const machine = (): string => names().machine

/** Identifies this process as an owner. A later process with the same pid has a different name. */
export const processName = (): string => names().process

/** The name of no process of this machine: its owner has ended. */
export const endedProcess = (): string => `${machine()}#0#0`

/** The machine, pid and start of the process in an owner's name, which may continue after them. */
export function ownerOf(name: string): { machine: string; pid: number; start: number } {
  const [where = '', pid, start] = name.split('#')
  return { machine: where, pid: Number(pid), start: Number(start) }
}

/** A hash of the name of this machine, for places with little room. */
export const machineMark = (length: number): string =>
  createHash('sha256').update(machine()).digest('hex').slice(0, length)

/** Returns whether the process with this pid and start runs on this machine. */
export const runsHere = (pid: number, start: number): boolean => startOf(pid) === start

/** The number of the folder, not its path: in another namespace of mounts, the path may lead to another home. */
function readHome(home: string): string {
  const found = ifAlive(() => statSync(home, { bigint: true }))
  return found === undefined ? '' : `/${found.dev.toString(36)}.${found.ino.toString(36)}`
}
