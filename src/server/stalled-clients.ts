// Cuts off clients of git that neither continue nor hang up: their sockets and temporary files would stay for hours.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { config } from '../config.js'

/** The fewest bytes that a client must send during the stall limit. */
export const LEAST_SENT = 8 * 1024
/** The fewest bytes that a client must take during it, on average. */
const LEAST_TAKEN = 64 * 1024
/**
 * The buffers of the systems on both sides take megabytes at once, and then nothing until the client has read a good part of them: a
 * client that reads 20 KB/s took nothing for 80 s. So what it has taken counts for this many stall limits at most.
 */
const MOST_AHEAD = 10
/** How often the watch looks during a stall limit. */
const LOOKS = 10

interface Watched {
  /** Bytes so far. */
  readonly bytes: () => number
  /** Whether the server waits for the client. */
  readonly waits: () => boolean
  readonly least: number
  /** For how many stall limits bytes may count. */
  readonly ahead?: number
  readonly cut: () => void
}

/** Calls `cut` when a client stalls. Returns the function that ends the watch. */
export function watch({ bytes, waits, least, ahead = 1, cut }: Watched): () => void {
  const limit = config().git.stall * 1000
  let seen = bytes()
  /** Looks until the client is cut off. It counts looks, because the process itself may have had to wait. */
  let left = LOOKS
  const timer = setInterval(() => {
    const now = bytes()
    left = Math.min(ahead * LOOKS, left + ((now - seen) / least) * LOOKS)
    seen = now
    if (!waits()) left = Math.max(left, LOOKS)
    else if (--left <= 0) cut()
  }, limit / LOOKS)
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
  // What reads the body gets the error. Without a listener, that of a request that nobody reads would end the process.
  request.on('error', () => undefined)
}

/** Cuts the client off when it stops taking the answer. */
export function cutStalledAnswer(response: ServerResponse): void {
  const { socket } = response
  if (!socket) return
  const stop = watch({
    bytes: () => socket.bytesWritten - socket.writableLength,
    waits: () => response.writableLength > 0 || socket.writableLength > 0,
    least: LEAST_TAKEN,
    ahead: MOST_AHEAD,
    cut: () => response.destroy()
  })
  response.once('close', stop)
}
