// What the commands that import many projects have in common: progress, a line for each refusal, and the counts at the end.
import { progressLine } from '../framework/progress.js'
import { endedBySignals } from '../framework/signals.js'
import { withDatabase } from '../framework/with-database.js'
import { printable } from '../output/table.js'

type Outcome = 'imported' | 'existing'

/** What an import of many projects calls, and when it must stop. */
interface Importing<Refusal> {
  readonly signal: AbortSignal
  readonly refuse: (refusal: Refusal) => void
  readonly done: (outcome: Outcome) => void
}

interface ManyImports<Refusal> {
  readonly json: boolean
  readonly dryRun: boolean
  readonly log: (line: string) => void
  /** How the progress calls projects that did not come. */
  readonly refusedWord: string
  /** The line for a refusal. */
  readonly lineOf: (refusal: Refusal) => string
  readonly work: (importing: Importing<Refusal>) => Promise<void>
}

/** Imports projects. The exit code is 1 when one is refused. Returns the result for --json. */
export async function importMany<Refusal>({ json, dryRun, log, refusedWord, lineOf, work }: ManyImports<Refusal>) {
  // A reader of stderr, such as `head`, may close the pipe early: that must not stop the import.
  process.stderr.on('error', () => undefined)
  const progress = progressLine()
  const refused: Refusal[] = []
  const counts = { imported: 0, existing: 0 }
  const refuse = (refusal: Refusal) => {
    refused.push(refusal)
    progress.end()
    if (!json) process.stderr.write(`${printable(lineOf(refusal))}\n`)
  }
  const done = (outcome: Outcome) => {
    counts[outcome]++
    progress.show('importing', 0, 0, `${counts.imported} projects, ${refused.length} ${refusedWord}`)
  }
  await endedBySignals(
    signal => withDatabase(() => work({ signal, refuse, done })),
    'projects that were created stay: run it again to continue'
  ).finally(progress.end)
  if (refused.length > 0) process.exitCode = 1
  const { imported, existing } = counts
  log(`${dryRun ? 'would import' : 'imported'} ${imported}, left ${existing} existing, refused ${refused.length}`)
  return dryRun ? { would_import: imported, existing, refused } : { imported, existing, refused }
}
