// Measures the cost of work: the seconds of processor of all processes of an appliance. They are valid on a busy machine too,
// unlike times and rates.
import type { Parts } from './appliance.js'
import { childrenOf, cpuOf, ownCpuOf } from './processes.js'

/** Seconds of processor since the start of each process. `git` counts everything that the server and the worker have started. */
export interface Spent {
  readonly server: number
  readonly worker: number
  readonly git: number
  readonly database: number
  readonly supervisor: number
}

export function spentBy({ server, worker, database, supervisor }: Parts): Spent {
  const own = { server: ownCpuOf(server), worker: ownCpuOf(worker) }
  return {
    ...own,
    git: Math.max(0, cpuOf(server) + cpuOf(worker) - own.server - own.worker),
    database: cpuOf(database),
    supervisor: ownCpuOf(supervisor)
  }
}

const NAMES = ['server', 'worker', 'git', 'database', 'supervisor'] as const

/** The seconds of each part for 1,000 operations, between two measurements. */
export function perThousand(before: Spent, after: Spent, operations: number): Spent {
  const share = (name: (typeof NAMES)[number]) => ((after[name] - before[name]) / operations) * 1000
  return Object.fromEntries(NAMES.map(name => [name, share(name)])) as unknown as Spent
}

export const sumOf = (spent: Spent) => NAMES.reduce((sum, name) => sum + spent[name], 0)

/** Starts counting. The returned function gets the number of operations, and returns the seconds of all processes for 1,000 of them. */
export function countCost(parts: Parts): (operations: number) => { processor_s_per_1000: number } {
  const before = cpuOf(parts.supervisor)
  return operations => ({ processor_s_per_1000: ((cpuOf(parts.supervisor) - before) / operations) * 1000 })
}

/** The processes that a process has started, and their own descendants. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap(child => [child, ...descendantsOf(child)])
}
