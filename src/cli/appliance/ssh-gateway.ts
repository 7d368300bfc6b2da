// Asks the running server on behalf of an OpenSSH server.
import { createConnection, type Socket } from 'node:net'
import { Unavailable } from '../../errors.js'
import { socketPath } from '../../home.js'

/** Maximum bytes of a frame from the server. */
export const MOST_FRAME = 1024 * 1024

/** Connects to the home's server and sends the first line. Throws Unavailable when the server does not run. */
export async function askServer(line: Record<string, unknown>): Promise<Socket> {
  const socket = createConnection({ path: socketPath('ssh.sock'), allowHalfOpen: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', () =>
      reject(new Unavailable('the server of this home does not run: start it with gitstead up'))
    )
  })
  socket.write(`${JSON.stringify(line)}\n`)
  return socket
}
