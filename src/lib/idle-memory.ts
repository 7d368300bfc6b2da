// Returns the memory that a start or a burst of requests took to the system. V8 collects garbage when it allocates, so an idle
// server keeps the buffers of its last requests: 1.6 GB were measured with a heap of 62 MB.
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_MS = 5000
/** A collection stops the server for some 50 ms, so it waits until the event loop is idle except for this share. */
const BUSY = 0.2
/** A collection is not worth it for less growth. */
const GROWN_BYTES = 48 * 1024 * 1024
/** The first collection only begins to free buffers; the next one completes it. */
const ROUNDS = 2

interface Looking {
  readonly rss?: () => number
  /** Milliseconds between two looks. */
  readonly every?: number
  readonly least?: number
}

/**
 * Checks from time to time, and collects when the process has grown beyond `least` bytes and is idle. With 0 it also collects what
 * the start has left. Returns a function that ends this.
 */
export function collectWhenIdle(
  collect = collector(),
  { rss = () => process.memoryUsage.rss(), every = LOOK_MS, least = rss() }: Looking = {}
): () => void {
  let rounds = 0
  let seen = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, seen)
    seen = now
    const size = rss()
    least = Math.min(least, size)
    if (utilization > BUSY || size - least < GROWN_BYTES) return
    if (rounds < ROUNDS) {
      rounds++
      collect()
      return
    }
    // The memory that remains is in use.
    rounds = 0
    least = size
  }, every)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns V8's own function, which exists only with this flag. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
