import { renameSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'

/**
 * Listens on a unix socket. The socket gets its name only when it listens, so that a client that finds the name reaches
 * the server. `unnamed` is a path in the same folder that nobody looks for.
 */
export async function listenUnix(server: Server, path: string, unnamed: string): Promise<void> {
  rmSync(unnamed, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(unnamed, resolve))
  renameSync(unnamed, path)
}
