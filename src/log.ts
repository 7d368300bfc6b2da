// Structured logs: one JSON object a line on stderr. Nothing secret is ever handed to it; what could be is redacted.
import { destination, type Logger, pino } from 'pino'
import { config } from './config.js'

const SECRET = ['password', 'token', 'private_token', 'access_token', 'secret', 'authorization', 'cookie']
const paths = SECRET.flatMap(name => [name, `*.${name}`, `*.*.${name}`])

let current: Logger | undefined
let processName = 'command'

/** The process's logger, at the level of the configuration. */
export function log(): Logger {
  current ??= pino(
    {
      level: config().log.level,
      base: { pid: process.pid, process: processName },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
      redact: { paths, censor: '[redacted]' }
    },
    destination({ fd: 2, sync: true })
  )
  return current
}

/** Names this process in its logs: server, worker, up. Call it before the first line. */
export function nameProcess(name: string): void {
  processName = name
  process.title = `gitstead ${name}`
}
