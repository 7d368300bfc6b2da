// Measures the cost of work: the processor time of all processes of an appliance. It is valid on a busy machine too, unlike times
// and rates.
import type { Parts } from './appliance.js'
import { childrenOf, cpuOf, ownCpuOf } from './processes.js'

/** `git` counts everything that the server and the worker have started. */
const NAMES = ['server', 'worker', 'git', 'database', 'supervisor'] as const
type Name = (typeof NAMES)[number]

/** Seconds of processor since the start of each process. */
type Spent = { readonly [name in Name]: number }

function spentBy({ server, worker, database, supervisor }: Parts): Spent {
  const own = { server: ownCpuOf(server), worker: ownCpuOf(worker) }
  return {
    ...own,
    git: Math.max(0, cpuOf(server) + cpuOf(worker) - own.server - own.worker),
    database: cpuOf(database),
    supervisor: ownCpuOf(supervisor)
  }
}

/** Milliseconds of processor for each operation: of all processes together, and of each part. */
export type Cost = { readonly processor_ms: number } & { readonly [name in `${Name}_ms`]: number }

/** Starts counting. The returned function gets the number of operations since then. */
export function countCost(parts: Parts): (operations: number) => Cost {
  const before = spentBy(parts)
  return operations => {
    const after = spentBy(parts)
    // The kernel counts in hundredths of a second.
    const each = (name: Name) => (Math.max(0, Math.round((after[name] - before[name]) * 100)) / operations) * 10
    const processor_ms = NAMES.reduce((sum, name) => sum + each(name), 0)
    return { processor_ms, ...Object.fromEntries(NAMES.map(name => [`${name}_ms`, each(name)])) } as Cost
  }
}

/** The processes that a process has started, and their own descendants. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap(child => [child, ...descendantsOf(child)])
}
