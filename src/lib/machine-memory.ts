import { totalmem } from 'node:os'

// Without a container this is 0, or more than any machine has. Not every system reports the limit of a container.
const limit = process.constrainedMemory()

/** The memory in bytes of this machine, or of the container in which this process runs. */
export const MACHINE_MEMORY: number = limit > 0 ? Math.min(limit, totalmem()) : totalmem()

const MIB = 2 ** 20

/** Returns a share of a memory in whole MiB, between two limits. All are bytes. */
export function shareOf(
  memory: number,
  { part, least, most }: { readonly part: number; readonly least: number; readonly most: number }
): number {
  return Math.floor(Math.min(Math.max(memory * part, least), most) / MIB) * MIB
}
