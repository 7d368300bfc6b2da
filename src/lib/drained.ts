// How a writer waits for a slow reader.
import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Waits until a stream takes more, or is closed. */
export async function drained(stream: Writable): Promise<void> {
  if (stream.destroyed) return
  const done = new AbortController()
  const { signal } = done
  try {
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })])
  } finally {
    // The other listener would stay, one for each wait.
    done.abort()
  }
}
