// Ends long work cleanly after a signal. A second signal ends the process at once, for a person who does not want to wait.
import { Failure } from '../../errors.js'

/** A process gets SIGHUP when the connection to the machine is lost. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `work` with an abort signal that fires when the process gets a signal. Its reason is a Failure, whose message ends
 * with `left`: what is left of the work.
 */
export async function endedBySignals<T>(
  work: (signal: AbortSignal) => Promise<T>,
  left = 'nothing was kept'
): Promise<T> {
  const stop = new AbortController()
  const end = (signal: NodeJS.Signals) => stop.abort(new Failure(`ended by ${signal}: ${left}`))
  for (const signal of SIGNALS) process.once(signal, end)
  try {
    return await work(stop.signal)
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}
