// What every process of the appliance does around its work: wait for the database, tell its parent, stop cleanly.
import { setTimeout as sleep } from 'node:timers/promises'
import { loadConfig } from './config.js'
import { Failure, Misconfigured, Unavailable } from './errors.js'
import { log, nameProcess } from './log.js'

interface Running {
  readonly port?: number
  /** Resolves when the process must not go on. */
  readonly lost?: Promise<void>
  stop(): Promise<void>
}

const STOP_MS = 18_000
const DATABASE_WAIT_MS = 60_000

/** Runs a process until it is told to stop, by a signal or by the end of its parent. Sets the exit code. */
export async function runProcess(name: string, start: () => Promise<Running>): Promise<void> {
  nameProcess(name)
  let running: Running | undefined
  const stop = once(async () => {
    const limit = setTimeout(() => process.exit(1), STOP_MS)
    limit.unref()
    await running?.stop()
    process.exit(process.exitCode ?? 0)
  })
  // Before anything else: a parent that is killed while its child starts must not leave one that holds the port.
  process.on('disconnect', () => void stop())
  if (process.connected === false) return stop()
  try {
    loadConfig({})
    running = await whenDatabaseAnswers(start)
  } catch (error) {
    return fail(error)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
  void running.lost?.then(() => {
    process.exitCode = 1
    log().error('this process has lost its lease and starts again')
    void stop()
  })
  process.on('uncaughtException', error => {
    log().fatal({ error }, 'a fault of the program')
    process.exitCode = 1
    void stop()
  })
  process.send?.({ ready: running.port === undefined ? {} : { port: running.port } })
}

/** The database may start beside this process, or come back later than it. */
async function whenDatabaseAnswers(start: () => Promise<Running>): Promise<Running> {
  const limit = Date.now() + DATABASE_WAIT_MS
  for (;;) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof Unavailable) || Date.now() > limit) throw error
      await sleep(20)
    }
  }
}

function fail(error: unknown): void {
  const known = error instanceof Failure
  const text = error instanceof Error ? error.message : String(error)
  if (process.send) {
    if (!known) log().fatal({ error }, 'the process could not start')
    // Only what the sysadmin has to mend ends the appliance; the rest is tried again.
    const message = error instanceof Misconfigured ? { fatal: text } : {}
    process.send(message, () => process.exit(1))
    return
  }
  process.stderr.write(`gitstead: ${text}\n`)
  process.exit(error instanceof Unavailable ? 5 : 1)
}

function once(fn: () => Promise<void>): () => Promise<void> {
  let called: Promise<void> | undefined
  return () => {
    called ??= fn()
    return called
  }
}
