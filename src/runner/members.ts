// Finds the processes of a running script, wherever they have gone.
import { readdir, readFile, stat } from 'node:fs/promises'

/** The processes of one script. */
export interface Members {
  /** Returns their folders in /proc. The list is empty when the script has ended. */
  list(): Promise<string[]>
  /** Returns the folder that is / for the script, or undefined without a sandbox, and before and after the script. */
  root(): Promise<string | undefined>
  /** The number of the first process of a sandbox. */
  readonly first?: number
}

const numbered = async (folder: string) =>
  (await readdir(folder).catch(() => [])).filter(name => /^\d+$/.test(name)).map(name => `${folder}/${name}`)

/** A sandbox has a /proc of its own, which shows exactly its processes. */
export function confinedMembers(first: number): Members {
  const root = async () => {
    const folder = `/proc/${first}/root`
    // While bubblewrap still builds the sandbox, and when the number has gone to another process, this is the root of
    // the machine, with all its processes.
    const [inside, outside] = await Promise.all([stat(`${folder}/proc`).catch(() => undefined), stat('/proc')])
    return inside && inside.dev !== outside.dev ? folder : undefined
  }
  const list = async () => {
    const folder = await root()
    return folder === undefined ? [] : numbered(`${folder}/proc`)
  }
  return { first, root, list }
}

/** Without a sandbox, the processes whose environment contains `entry`. One that clears its environment is not found. */
export const markedMembers = (entry: string): Members => ({
  root: async () => undefined,
  list: async () => {
    const found: string[] = []
    for (const folder of await numbered('/proc')) {
      const environment = await readFile(`${folder}/environ`, 'latin1').catch(() => '')
      if (environment.split('\0').includes(entry)) found.push(folder)
    }
    return found
  }
})
