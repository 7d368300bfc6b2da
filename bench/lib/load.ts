// Makes load from a separate process, so that the server has a core for itself. The generator is our own, because an existing
// tool may not be on the machine.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Parts } from './appliance.js'
import { atExit } from './clean-up.js'
import { countCost } from './cost.js'
import { median } from './figure.js'

export interface Burst {
  readonly port: number
  /** Whole requests, as bytes on the wire. They are sent in turn. */
  readonly requests: readonly string[]
  readonly connections: number
  readonly milliseconds: number
  /** The burst ends early after this many requests. */
  readonly most?: number
}

export interface BurstResult {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly count: number
  /** The statuses of answers other than 2xx. */
  readonly failures: readonly number[]
}

const program = fileURLToPath(new URL('./load-process.js', import.meta.url))
let generator: ChildProcess | undefined

/** Sends requests for some time; each connection waits for its answers. Throws when an answer is not 2xx. */
export async function burst(what: Burst): Promise<BurstResult> {
  if (!generator) {
    const child = fork(program)
    generator = child
    atExit(() => child.kill('SIGKILL'))
  }
  generator.send(what)
  const [result] = (await once(generator, 'message')) as [BurstResult | { error: string }]
  if ('error' in result) throw new Error(result.error)
  const { failures, count } = result
  if (failures.length > 0) throw new Error(`${failures.length} of ${count} answers were ${[...new Set(failures)]}`)
  return result
}

/** Stops the generator; otherwise it would keep the program alive. */
export function stopLoad(): void {
  generator?.disconnect()
  generator = undefined
}

/** The text of a GET request. */
export function get(path: string, token?: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${token ? `private-token: ${token}\r\n` : ''}\r\n`
}

/** The text of a POST request with a body of JSON. */
export function post(path: string, token: string, record: object): string {
  const body = JSON.stringify(record)
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nprivate-token: ${token}\r\ncontent-type: application/json`
  return `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

export interface RateOptions extends Omit<Burst, 'milliseconds'> {
  readonly rounds?: number
  readonly milliseconds?: number
  /** The processes whose processor time per request is reported. */
  readonly parts: Parts
}

/** Returns the median rate of several bursts, after a first one that does not count, and the processor time per request. */
export async function rate({ rounds = 5, milliseconds = 1500, parts, ...rest }: RateOptions) {
  await burst({ ...rest, milliseconds })
  const cost = countCost(parts)
  const results: BurstResult[] = []
  for (let round = 0; round < rounds; round++) results.push(await burst({ ...rest, milliseconds }))
  const count = results.reduce((sum, result) => sum + result.count, 0)
  return {
    perSecond: median(results.map(result => result.perSecond)),
    p50_ms: median(results.map(result => result.p50)),
    p99_ms: median(results.map(result => result.p99)),
    ...cost(count)
  }
}
