// What a maintenance task is. Tasks lie in the area whose things they look after; maintenance-tasks.ts lists them.
import { deleteInBatches, row, type Value } from '../db/sql.js'

export interface TaskContext {
  /** Only tell what would be done. */
  readonly dryRun: boolean
  /** Ends when the run is to end: looked at between steps, each of which leaves things whole. */
  readonly signal: AbortSignal
  /** Counts what was dealt with; a run that breaks off keeps its count. */
  count(more?: number): void
  /** A line for the record of the run. */
  note(text: string): void
}

export interface Task {
  readonly name: string
  /** When, as cron writes it, in UTC. */
  readonly schedule: string
  readonly about: string
  /** Gives figures for the record, beside the count. Running it twice, or after a run that broke off, is harmless. */
  run(context: TaskContext): Promise<Readonly<Record<string, number>> | undefined>
}

export const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000)

/** Removes the rows of a table for which `where` holds, in batches, so that no statement locks much for long. */
export async function removeRows(
  { dryRun, signal, count }: TaskContext,
  table: string,
  where: string,
  values: readonly Value[]
): Promise<undefined> {
  if (dryRun) {
    const found = await row<{ total: number }>(`select count(*) as total from ${table} where ${where}`, values)
    count(Number(found?.total ?? 0))
    return
  }
  await deleteInBatches(`delete from ${table} where ${where}`, values, removed => {
    count(removed)
    signal.throwIfAborted()
  })
}
