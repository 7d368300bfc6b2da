// Structured logs: one JSON object per line on stderr. The code never logs secrets; fields with the name of a secret
// are redacted.
import { createRequire } from 'node:module'
import { format } from 'node:util'
import type { Logger } from 'pino'
import { config } from './config.js'
import { requestScope } from './lib/request-scope.js'
import { sourceStack } from './lib/source-stack.js'

const SECRET = ['password', 'token', 'private_token', 'access_token', 'secret', 'authorization', 'cookie']
const PATHS = SECRET.flatMap(name => [name, `*.${name}`, `*.*.${name}`])

/** Bytes of lines that wait for room on the disk. */
const MOST_WAITING = 1_048_576

// Loaded by the first line: commands that log nothing start 30 ms faster.
const pino = () => createRequire(import.meta.url)('pino') as typeof import('pino')

let current: Logger | undefined
let processName = 'command'
let output: { write(line: string): void } | undefined

/** Returns the logger of this process, with the level of the configuration. */
export function log(): Logger {
  current ??= pino().pino(
    {
      level: config().log.level,
      mixin: requestFields,
      base: { pid: process.pid, process: processName },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      serializers: { error: describeError },
      redact: { paths: PATHS, censor: '[redacted]' }
    },
    output ?? sink()
  )
  return current
}

function requestFields(): { request?: string } {
  const scope = requestScope.getStore()
  return scope ? { request: scope.request } : {}
}

/** When the log cannot be written, for example on a full disk, its lines are lost, and the work continues. */
function sink() {
  const stream = pino().destination({ fd: 2, sync: true, maxLength: MOST_WAITING })
  stream.on('error', () => undefined)
  return stream
}

/** Sends the log of this process elsewhere than to stderr. Call it before the first log line. */
export function logTo(stream: { write(line: string): void }): void {
  output = stream
}

/**
 * Picks the fields of an error by name. A database error also contains its statement with all values, which may be
 * tokens and addresses.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack } = error
  return { name, message, code: (error as NodeJS.ErrnoException).code, stack: sourceStack(stack ?? '') }
}

/** Shows the home of this process in `ps`, to distinguish several appliances. */
export function titleProcess(): void {
  process.title = `gitstead ${processName} --home ${config().home}`
}

/** Sets the name of this process in its logs: server, worker, up. Call it before the first log line. */
export function nameProcess(name: string): void {
  processName = name
  process.title = `gitstead ${name}`
  // Sequelize and Node.js itself print warnings on the console, but stderr must contain only JSON lines.
  console.warn = (...said: unknown[]) => log().warn({ from: 'console' }, format(...said))
}
