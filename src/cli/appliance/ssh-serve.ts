// Passes bytes between the client of an OpenSSH server (stdin and stdout) and the running server.
import { pipeline } from 'node:stream/promises'
import { drained } from '../../lib/drained.js'
import { framesOf } from '../../lib/frames.js'
import { askServer, MOST_FRAME } from './ssh-gateway.js'

const CUT_OFF = 128

/** Returns the exit code for the client. Throws Unavailable when the server does not run. */
export async function passThrough(fingerprint: string): Promise<number> {
  const { SSH_ORIGINAL_COMMAND: command = '', GIT_PROTOCOL: protocol, SSH_CONNECTION: connection = '' } = process.env
  const [address = ''] = connection.split(' ')
  const socket = await askServer({ want: 'serve', fingerprint, command, protocol, address })
  // The server may finish before the client has sent everything.
  pipeline(process.stdin, socket).catch(() => undefined)
  let code = CUT_OFF
  try {
    for await (const { kind, content } of framesOf(socket.iterator({ destroyOnReturn: false }), MOST_FRAME)) {
      if (kind === 'x') code = Number(content.toString())
      else await write(kind === 'e' ? process.stderr : process.stdout, content)
    }
  } catch {
    // The server was stopped, or the client has disconnected.
  }
  socket.destroy()
  process.stdin.destroy()
  return code
}

async function write(stream: NodeJS.WriteStream, content: Buffer): Promise<void> {
  if (!stream.write(content)) await drained(stream)
}
