// Runs the mixed load from a separate process, at a fixed rate whatever the answers do.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { atExit } from '../clean-up.js'
import type { Dataset } from './dataset.js'

export interface Arrivals {
  readonly port: number
  readonly dataset: Dataset
  readonly seed: number
  readonly perSecond: number
  readonly milliseconds: number
  /** Only operations of this kind. */
  readonly only?: string
}

interface KindResult {
  readonly kind: string
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
}

export interface OpenResult {
  readonly count: number
  /** Milliseconds from the time at which an operation was due to its end. */
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly worst: number
  readonly kinds: readonly KindResult[]
  /** The errors, and how often each occurred. */
  readonly errors: Readonly<Record<string, number>>
  readonly errorCount: number
  /** Whether the load ended early because too many operations waited. */
  readonly overrun: boolean
  readonly connections: number
}

const program = fileURLToPath(new URL('./open-load-process.js', import.meta.url))

/** Runs the load once. Each run has a separate process, so that no connection or memory is left from an earlier run. */
export async function runOpenLoad(arrivals: Arrivals): Promise<OpenResult> {
  const child: ChildProcess = fork(program, { execArgv: [] })
  const forget = atExit(() => child.kill('SIGKILL'))
  child.send(arrivals)
  const [answer] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [{ error: 'the load process ended' }])
  ])) as [OpenResult | { error: string }]
  child.disconnect()
  forget()
  if ('error' in answer) throw new Error(answer.error)
  return answer
}
