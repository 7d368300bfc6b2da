import type { IncomingMessage } from 'node:http'

/** Bytes of a refused body that are read for nothing. */
const DRAINED = 64 * 1024 * 1024

/** Reads the rest of a body that is not wanted: a client takes no answer before it has sent everything. */
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
