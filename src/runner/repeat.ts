/** By default, a pause after a look is at least this many times as long, so that looking never takes the machine. */
const SHARE = 10

/**
 * Looks again and again until the returned function is called, which waits for the look under way. `look` returns the
 * milliseconds until the next one, and `share` is how much longer that takes than the look itself. A failed look ends the looking; the returned function gives the failure.
 */
export function repeat(look: () => Promise<number>, share = SHARE): () => Promise<void> {
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
