// Whatever ends a program, its processes and folders go with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const chores = new Set<() => void>()

/** Calls `chore` when the program ends; the result takes that back. It must not wait for anything. */
export function atExit(chore: () => void): () => void {
  chores.add(chore)
  return () => chores.delete(chore)
}

/** A folder that goes when the program ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-bench-'))
  atExit(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

process.on('exit', () => {
  // The last first: processes before the folders that they write to.
  for (const chore of [...chores].reverse()) chore()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
