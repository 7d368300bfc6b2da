// Cuts off clients of git that neither continue nor hang up: their sockets and temporary files would stay for hours.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { config } from '../config.js'

/** The fewest bytes that a client must send during the stall limit. */
export const LEAST_SENT = 8 * 1024
/** The fewest bytes that a client must take. Only whole pieces of this size are seen to arrive. */
const LEAST_TAKEN = 64 * 1024

interface Watched {
  /** Bytes so far. */
  readonly bytes: () => number
  /** Whether the server waits for the client. */
  readonly waits: () => boolean
  readonly least: number
  readonly cut: () => void
}

/** Calls `cut` when a client stalls. Returns the function that ends the watch. */
export function watch({ bytes, waits, least, cut }: Watched): () => void {
  const limit = config().git.stall * 1000
  let from = bytes()
  let since = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    if (!waits() || bytes() - from >= least) {
      from = bytes()
      since = now
    } else if (now - since >= limit) {
      cut()
    }
  }, limit / 10)
  timer.unref()
  return () => clearInterval(timer)
}

/** Cuts the client off when it stops sending its request. */
export function cutStalledRequest(request: IncomingMessage): void {
  const { socket } = request
  const stop = watch({
    bytes: () => socket.bytesRead,
    waits: () => !request.complete && request.readableLength === 0,
    least: LEAST_SENT,
    cut: () => request.destroy(new Error('the client stopped sending'))
  })
  request.once('close', stop)
}

/** Cuts the client off when it stops taking the answer. */
export function cutStalledAnswer(response: ServerResponse): void {
  const { socket } = response
  if (!socket) return
  const stop = watch({
    bytes: () => socket.bytesWritten - socket.writableLength,
    waits: () => response.writableLength > 0 || socket.writableLength > 0,
    least: LEAST_TAKEN,
    cut: () => response.destroy()
  })
  response.once('close', stop)
}
