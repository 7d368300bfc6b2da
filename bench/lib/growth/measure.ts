// Measures what an operation costs the appliance: rows that the database reads, processor time of all processes, and time.
import { rows } from '../../../src/db/connect/sql.js'
import type { Parts } from '../appliance.js'
import { cpuOf } from '../processes.js'

export interface Cost {
  /** Rows and entries of indexes. Unlike times, it does not depend on the machine and on its other work. */
  readonly rows: number
  readonly processor_ms: number
  readonly ms: number
}

async function rowsRead(): Promise<number> {
  const found = await rows<{ value: string }>(
    `select variable_value as value from information_schema.global_status
     where variable_name like 'HANDLER\\_READ\\_%' and variable_name <> 'HANDLER_READ_RETRY'`
  )
  return found.reduce((sum, { value }) => sum + Number(value), 0)
}

const ownProcessor = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns a function that measures operations of this process or of the appliance. */
export async function costMeter({ supervisor }: Parts): Promise<(work: () => Promise<unknown>) => Promise<Cost>> {
  const measure = async (work: () => Promise<unknown>) => {
    const before = [await rowsRead(), cpuOf(supervisor) * 1000 + ownProcessor(), performance.now()] as const
    await work()
    const ms = performance.now() - before[2]
    const processor_ms = cpuOf(supervisor) * 1000 + ownProcessor() - before[1]
    return { rows: (await rowsRead()) - before[0], processor_ms, ms }
  }
  // Reading the status reads rows as well.
  const nothing = Math.min(...(await inTurn([1, 2, 3], async () => (await measure(async () => undefined)).rows)))
  return async work => {
    const cost = await measure(work)
    return { ...cost, rows: Math.max(0, cost.rows - nothing) }
  }
}

async function inTurn<T, R>(list: readonly T[], each: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of list) results.push(await each(item))
  return results
}
