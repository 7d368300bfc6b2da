// The type of a maintenance task. A task is in the area whose records it maintains; maintenance-tasks.ts lists all tasks.
import { deleteInBatches, row, type Value } from '../db/connect/sql.js'

export interface TaskContext {
  /** True when the task must only report what it would do. */
  readonly dryRun: boolean
  /** Aborts when the run must end. A task checks it between two steps; after each step the data is consistent. */
  readonly signal: AbortSignal
  /** Counts processed items. A run that stops early keeps its count. */
  count(more?: number): void
  /** Adds a line to the record of the run. */
  note(text: string): void
}

export interface Task {
  readonly name: string
  /** The times of the task, in cron syntax, in UTC. */
  readonly schedule: string
  readonly about: string
  /** Whether each machine has to run the task for the repositories that belong to it. */
  readonly usesRepositories?: true
  /**
   * Runs the task. Returns additional figures for the record. It must be harmless to run a task twice, or after a run
   * that stopped early.
   */
  run(context: TaskContext): Promise<Readonly<Record<string, number>> | undefined>
}

/** Returns the time that was `days` times 24 hours ago. */
export const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000)

/** Counts the rows of a table that match `where`, for a dry run. */
export async function countRows(
  { count }: TaskContext,
  table: string,
  where: string,
  values: readonly Value[]
): Promise<undefined> {
  const found = await row<{ total: number }>(`select count(*) as total from ${table} where ${where}`, values)
  count(Number(found?.total ?? 0))
}

/**
 * Removes the rows of a table that match `where`, in batches, so that no statement holds many locks for long. In a dry
 * run it only counts them.
 */
export async function removeRows(
  context: TaskContext,
  table: string,
  where: string,
  values: readonly Value[]
): Promise<undefined> {
  if (context.dryRun) return countRows(context, table, where, values)
  await deleteInBatches(`delete from ${table} where ${where}`, values, removed => {
    context.count(removed)
    context.signal.throwIfAborted()
  })
}
