// Commands that take several arguments handle one after another. A failure of one does not stop the others: its message goes
// to stderr, and the exit code reports that something failed. With one argument, the command throws the failure itself.
import { DiskFull, Failure, Unavailable } from '../../errors.js'
import { type Confirming, confirm } from './confirm.js'
import { codeOf, ExitCode, exitCodeOf, plainMessage } from './failures.js'

export type Argument = string | number

/** The result of one argument, for --json. */
type Outcome<T> =
  | { readonly argument: Argument; readonly ok: true; readonly result: T }
  | {
      readonly argument: Argument
      readonly ok: false
      readonly error: { readonly code: string; readonly message: string }
    }

/** The output of --json for several arguments, in their order. */
export interface Outcomes<T> {
  readonly results: readonly Outcome<T>[]
}

interface Try<A, T> {
  readonly argument: A
  readonly done?: { readonly result: T }
  readonly error?: Error
}

/** Does the work for each argument, one after another. Throws the failure of a single argument. */
export async function doEach<A extends Argument, T>(
  given: readonly A[],
  json: boolean,
  work: (argument: A) => Promise<T>
): Promise<T | Outcomes<T>> {
  const tries = await attempt(unique(given), work)
  return answer(tries, json)
}

export interface Destruction<A, Found, T> {
  /** Throws NotFound. */
  readonly find: (argument: A) => Promise<Found>
  /** What would be lost, for the confirmation. */
  readonly loss: (found: Found) => Promise<string> | string
  readonly destroy: (found: Found) => Promise<T>
  readonly how: Confirming
  /** Destroys nothing, so it does not ask for confirmation. */
  readonly dryRun: boolean
}

/** Finds the records that the arguments name, asks once for all, and destroys each. Throws the failure of a single argument. */
export async function destroyEach<A extends Argument, Found, T>(
  given: readonly A[],
  { find, loss, destroy, how, dryRun }: Destruction<A, Found, T>
): Promise<T | Outcomes<T>> {
  const found = await attempt(unique(given), find)
  if (found.length === 1 && found[0]?.error) throw found[0].error
  const there = found.flatMap(({ done }) => done ?? [])
  if (!dryRun && !how.yes && there.length > 0) {
    const losses: string[] = []
    for (const { result } of there) losses.push(await loss(result))
    await confirm(losses.join('\n'), how)
  }
  const tries: Try<A, T>[] = []
  for (const one of found) {
    const { argument, error, done } = one
    if (done) tries.push(...(await attempt([argument], () => destroy(done.result))))
    else tries.push({ argument, error })
  }
  return answer(tries, how.json)
}

/** Tries each argument and returns which failed, for commands that print their own summary. Sets the exit code. */
export async function sortOut<A extends Argument, T>(
  given: readonly A[],
  json: boolean,
  work: (argument: A) => Promise<T>
): Promise<{
  done: { argument: A; result: T }[]
  failed: { argument: A; error: { code: string; message: string } }[]
}> {
  const tries = await attempt(unique(given), work)
  if (tries.length === 1 && tries[0]?.error) throw tries[0].error
  summarize(tries, json)
  return {
    done: tries.flatMap(({ argument, done }) => (done ? [{ argument, result: done.result }] : [])),
    failed: tries.flatMap(({ argument, error }) => (error ? [{ argument, error: wordsOf(error) }] : []))
  }
}

const unique = <A>(given: readonly A[]): A[] => [...new Set(given)]

async function attempt<A, T>(given: readonly A[], work: (argument: A) => Promise<T>): Promise<Try<A, T>[]> {
  const tries: Try<A, T>[] = []
  let fatal: Error | undefined
  for (const argument of given) {
    try {
      if (fatal) throw fatal
      tries.push({ argument, done: { result: await work(argument) } })
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      // The database does not answer or the program has a bug: the others would fail too, each after its time limit.
      if (!(failure instanceof Failure) || failure instanceof Unavailable || failure instanceof DiskFull)
        fatal = failure
      tries.push({ argument, error: failure })
    }
  }
  return tries
}

function answer<A extends Argument, T>(tries: readonly Try<A, T>[], json: boolean): T | Outcomes<T> {
  const [first] = tries
  if (tries.length === 1 && first) {
    if (first.done) return first.done.result
    throw first.error
  }
  summarize(tries, json)
  return {
    results: tries.flatMap(({ argument, done, error }): Outcome<T>[] => {
      if (done) return [{ argument, ok: true, result: done.result }]
      return error ? [{ argument, ok: false, error: wordsOf(error) }] : []
    })
  }
}

const wordsOf = (error: Error) => ({ code: codeOf(error), message: plainMessage(error) })

/** Sets the exit code: that of the failures when they all have the same one, otherwise 1. */
function summarize(tries: readonly Try<Argument, unknown>[], json: boolean): void {
  const failures = tries.filter(({ error }) => error)
  const codes = new Set(failures.flatMap(({ error }) => (error ? [exitCodeOf(error)] : [])))
  if (process.exitCode !== undefined) codes.add(Number(process.exitCode))
  if (failures.length > 0) process.exitCode = codes.size === 1 ? [...codes][0] : ExitCode.failed
  if (json) return
  for (const { argument, error } of failures) {
    if (error) process.stderr.write(`gitstead: ${argument}: ${plainMessage(error)}\n`)
  }
}
