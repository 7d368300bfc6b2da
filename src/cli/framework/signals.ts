// Ends long work cleanly when a signal comes. A second signal ends the process at once, for a person who does not wait.
import { Failure } from '../../errors.js'

/** SIGHUP comes when a connection to the machine is lost. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `work` with a signal that aborts when the process is told to end; its reason is a Failure, which says `left` of what
 * was begun.
 */
export async function endedBySignals<T>(
  work: (signal: AbortSignal) => Promise<T>,
  left = 'nothing is left of it'
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
