// Gives back the memory that a burst of requests took. V8 collects garbage when it allocates, so a server that has
// nothing to do keeps the buffers of its last requests: 1.6 GB were seen beside a heap of 62 MB.
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_MS = 5000
/** A collection stops the server for some 50 ms, so it waits until the event loop is idle for all but this part. */
const BUSY = 0.2
/** It is not worth it for less. */
const GROWN_BYTES = 48 * 1024 * 1024
/** One collection only begins to free buffers; the next one finds them freed. */
const ROUNDS = 2

/** Looks from time to time, and collects when the process has grown and is idle. Returns a function that ends this. */
export function collectWhenIdle(
  collect = collector(),
  { rss = () => process.memoryUsage.rss(), every = LOOK_MS } = {}
): () => void {
  let least = rss()
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
    // What remains is in use.
    rounds = 0
    least = size
  }, every)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns V8's own function, which is not there without this flag. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
