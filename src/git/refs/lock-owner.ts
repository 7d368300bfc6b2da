// The names of processes that lock a ref without git: others read from them whether the process still runs.
import { bootName } from '../../lib/boot.js'
import { startOf } from '../../lib/process-status.js'

/** Returns the name of this process. A later process with the same pid has a different name. */
export const lockOwner = (): string => {
  own ??= `${bootName()}#${process.pid}#${startOf(process.pid) ?? 0}`
  return own
}

let own: string | undefined

/** Whether the process with this name runs; undefined when it belongs to another machine, whose processes nobody sees here. */
export function ownerLives(name: string): boolean | undefined {
  const [boot, pid, start] = name.split('#')
  return boot === bootName() ? startOf(Number(pid)) === Number(start) : undefined
}
