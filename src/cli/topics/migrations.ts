// What the commands of migrations have in common.

import { findMigration, type Migration } from '../../areas/migrate/runs/migrations.js'
import type { Assigned } from '../../areas/migrate/runs/placeholders.js'
import type { Session } from '../../areas/migrate/runs/session.js'
import { counted } from '../../lib/counted.js'
import { commandOrigin } from '../framework/origin.js'
import { progressLine } from '../framework/progress.js'
import { endedBySignals } from '../framework/signals.js'
import { withDatabase } from '../framework/with-database.js'
import { Args, Flags } from '../oclif.js'
import { printable } from '../output/table.js'

export const migrationArgs = {
  name: Args.string({ required: true, description: 'the name of the migration' })
}

export const projectFlags = {
  project: Flags.string({
    multiple: true,
    description: 'only this project, by its path at the source (default: all that the token shows)'
  })
}

/** Runs work on a migration, with progress, until it ends or the process gets a signal. */
export function onMigration<T>(
  name: string,
  work: (migration: Migration, given: Pick<Session, 'origin' | 'signal' | 'progress'>) => Promise<T>
): Promise<T> {
  const line = progressLine()
  return endedBySignals(
    signal =>
      withDatabase(async () =>
        work(await findMigration(name), { origin: commandOrigin(), signal, progress: line.show })
      ),
    'the next run continues here'
  ).finally(line.end)
}

/** Lines such as `  not: award emoji (3 times): the source does not show who gave them`. */
export const skippedLines = (
  skipped: readonly { readonly what: string; readonly why: string; readonly count: number }[]
): readonly string[] =>
  skipped.map(({ what, why, count }) => `  not: ${what}${count > 1 ? ` (${count} times)` : ''}: ${why}`)

export const refusedLines = (refused: Assigned['refused']): readonly string[] =>
  refused.map(({ placeholder, user, error }) =>
    printable(`${user} could not get the records of ${placeholder}: ${error}`)
  )

/** `1 issue`, `32 notes`, `2 commit statuses`; a question mark for an unknown number. `kind` may be in the plural. */
export function countedKind(count: number | null, kind: string): string {
  const one = kind.replaceAll('_', ' ').replace(/(?<![su])s$/, '')
  const many = `${one}${/(?:s|ch)$/.test(one) ? 'es' : 's'}`
  return count === null ? `? ${many}` : counted(count, one, many)
}
