import { renameSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'

/**
 * Listens at a unix socket, which gets its name only when it listens: a client that finds the name must reach the server.
 * `unnamed` is a path in the same folder, which nobody looks for.
 */
export async function listenUnix(server: Server, path: string, unnamed: string): Promise<void> {
  rmSync(unnamed, { force: true })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(unnamed, resolve))
  renameSync(unnamed, path)
}
