// Runs work on the named repositories, or on all. A failure of one does not stop the others.

import type { RepositoryRow } from '../../areas/code/repository/repositories.queries.js'
import {
  allRepositories,
  countRepositories,
  requireRepository
} from '../../areas/code/repository/repositories.queries.js'
import { underLock } from '../../areas/upkeep/maintenance/maintenance-lock.js'
import { DiskFull, Unavailable } from '../../errors.js'
import { doEach } from '../framework/each.js'
import { ExitCode, plainMessage } from '../framework/failures.js'
import { progressLine } from '../framework/progress.js'
import { endedBySignals } from '../framework/signals.js'
import { withDatabase } from '../framework/with-database.js'
import { Args, Flags } from '../oclif.js'

export const repositoryArgs = {
  project: Args.string({ description: 'the project: NAMESPACE/PROJECT or number; you can give several' })
}
export const everyFlag = { all: Flags.boolean({ description: 'all projects of the appliance' }) }

interface Work<T> {
  /** The arguments of the command. An empty list means all repositories. */
  readonly names: readonly string[]
  readonly json: boolean
  readonly label: string
  /** The maintenance task that must not run at the same time. */
  readonly lock?: string
  readonly work: (repository: RepositoryRow, signal: AbortSignal) => Promise<T>
  /** Prints the result of one repository. */
  readonly say: (text: string) => void
  readonly lineOf: (result: T) => string
  /** Returns whether to print and return a result when the command runs on all repositories. */
  readonly matters: (result: T) => boolean
}

interface Every<T> {
  readonly done: number
  readonly found: readonly T[]
  readonly failed: readonly { readonly project: string; readonly error: string }[]
}

/**
 * Does the work. Returns the result for one repository, the outcomes for several, or a summary for all. A signal ends it
 * between two repositories.
 */
export const eachRepository = <T>(asked: Work<T>) =>
  endedBySignals(
    signal =>
      withDatabase(async () => {
        if (asked.lock === undefined) return some(asked, signal)
        return underLock(asked.lock, signal, both => some(asked, both))
      }),
    'finished work is kept'
  )

async function some<T>(asked: Work<T>, signal: AbortSignal) {
  if (asked.names.length === 0) return every(asked, signal)
  return doEach(asked.names, asked.json, async name => {
    signal.throwIfAborted()
    const result = await asked.work(await requireRepository(name), signal)
    asked.say(asked.lineOf(result))
    return result
  })
}

async function every<T>({ label, work, say, lineOf, matters }: Work<T>, signal: AbortSignal): Promise<Every<T>> {
  const line = progressLine()
  const total = await countRepositories()
  const found: T[] = []
  const failed: { project: string; error: string }[] = []
  let done = 0
  try {
    for await (const repository of allRepositories()) {
      signal.throwIfAborted()
      line.show(label, done, total, repository.path_with_namespace)
      try {
        const result = await work(repository, signal)
        if (matters(result)) {
          line.end()
          say(lineOf(result))
          found.push(result)
        }
      } catch (error) {
        // Without the database or on a full disk, the others would fail too. A damaged repository may fail in any way.
        if (signal.aborted || error instanceof Unavailable || error instanceof DiskFull) throw error
        const text = plainMessage(error instanceof Error ? error : new Error(String(error)))
        line.end()
        failed.push({ project: repository.path_with_namespace, error: text })
        process.stderr.write(`gitstead: ${repository.path_with_namespace}: ${text}\n`)
        process.exitCode = ExitCode.failed
      }
      done += 1
    }
  } finally {
    line.end()
  }
  return { done, found, failed }
}
