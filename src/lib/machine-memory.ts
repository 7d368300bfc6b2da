import { totalmem } from 'node:os'

// Without a container this is 0, or more than any machine has. Not every system reports the limit of a container.
const limit = process.constrainedMemory()

/** The memory in bytes of this machine, or of the container in which this process runs. */
export const MACHINE_MEMORY: number = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
