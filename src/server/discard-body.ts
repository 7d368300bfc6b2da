import type { IncomingMessage } from 'node:http'

/** How many bytes of a refused body are read and thrown away. */
const DRAINED = 64 * 1024 * 1024

/** Reads the rest of an unwanted body: a client reads no answer before it has sent everything. */
export function drain(body: IncomingMessage): void {
  if (body.complete) return
  let left = DRAINED
  body.unpipe()
  body.removeAllListeners('readable')
  body.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) body.destroy()
  })
  body.resume()
}
