/** By default, a pause is at least this many times as long as the call before it, so that polling never takes all processor time. */
const SHARE = 10

/**
 * Calls `look` again and again until the returned function is called, which waits for the last call. `look` returns the
 * milliseconds until the next call; the pause is at least `share` times as long as the call was. If `look` fails, it is not
 * called again, and the returned function throws the failure.
 */
export function poll(look: () => Promise<number>, share = SHARE): () => Promise<void> {
  let looking = true
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const again = async () => {
    const begun = performance.now()
    const pause = await look()
    if (looking) timer = setTimeout(run, Math.max(pause, (performance.now() - begun) * share))
  }
  const run = () => {
    running = again()
    running.catch(() => undefined)
  }
  run()
  return () => {
    looking = false
    clearTimeout(timer)
    return running
  }
}
