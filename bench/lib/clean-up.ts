// Ends the processes and removes the folders of a program whenever it ends, for any reason.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const chores = new Set<() => void>()

/** Calls `chore` when the program ends. `chore` must be synchronous. Returns a function that cancels the call. */
export function atExit(chore: () => void): () => void {
  chores.add(chore)
  return () => chores.delete(chore)
}

/** Makes a temporary folder, which is removed when the program ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-bench-'))
  atExit(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

process.on('exit', () => {
  // The last chore runs first, so that processes end before the folders that they write to are removed.
  for (const chore of [...chores].reverse()) chore()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
