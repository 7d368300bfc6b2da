// The frame of every process of the appliance: it waits for the database, reports to its parent and stops cleanly.
import { setTimeout as sleep } from 'node:timers/promises'
import { config, loadConfig } from './config.js'
import { Failure, Misconfigured, Unavailable } from './errors.js'
import { collectWhenIdle } from './lib/idle-memory.js'
import type { Ready } from './lib/ready.js'
import { log, nameProcess, titleProcess } from './log.js'

interface Running extends Ready {
  /** Resolves when the process must stop. */
  readonly lost?: Promise<void>
  stop(): Promise<void>
}

const DATABASE_WAIT_MS = 60_000

/** Runs a process until a signal or the end of its parent stops it. Sets the exit code. */
export async function runProcess(name: string, start: () => Promise<Running>): Promise<void> {
  nameProcess(name)
  let running: Running | undefined
  const stop = once(async () => {
    if (running) log().info(`${name} stops`)
    if (running) setTimeout(() => process.exit(1), config().stop_timeout * 1000).unref()
    await running?.stop()
    process.exit(process.exitCode ?? 0)
  })
  // This comes first: when the parent is killed during the start of its child, no child that holds the port may be left.
  process.on('disconnect', () => void stop())
  if (process.connected === false) return stop()
  try {
    loadConfig({})
    titleProcess()
    running = await whenDatabaseAnswers(start)
    collectWhenIdle(undefined, { least: 0 })
  } catch (error) {
    return fail(error)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
  void running.lost?.then(() => {
    process.exitCode = 1
    log().error('this process lost its lease and restarts')
    void stop()
  })
  process.on('uncaughtException', error => {
    log().fatal({ error }, 'the program has a fault')
    process.exitCode = 1
    void stop()
  })
  const { port, firstRun } = running
  process.send?.({ ready: { port, firstRun } satisfies { [Name in keyof Ready]: Ready[Name] | undefined } })
}

/** Starts the process and retries while the database is unavailable: the database may start at the same time or later. */
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
    // Only a problem that the sysadmin must fix ends the appliance. After other errors the parent tries again.
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
