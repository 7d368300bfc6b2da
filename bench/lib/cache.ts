// Keeps what takes long to make from one run to the next, among the temporary files of the system. Several programs may use
// the cache at once, also those of other versions.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit, temporaryFolder } from './clean-up.js'

const CACHE = join(tmpdir(), 'gitstead-bench-cache')
/** What nobody used for this long is removed when something else of its kind is made. */
const UNUSED_MS = 24 * 3_600_000

/**
 * Returns the folder `kind-version`. The first call makes it: `make` gets an empty folder, which gets its final name when it is
 * complete, so that an interrupted program leaves nothing half made.
 */
export async function keptFolder(
  kind: string,
  version: string,
  make: (draft: string) => Promise<void>
): Promise<string> {
  const path = join(CACHE, `${kind}-${version}`)
  if (!existsSync(path)) {
    mkdirSync(CACHE, { recursive: true })
    removeUnused(kind)
    const draft = `${path}.${process.pid}`
    const forget = atExit(() => rmSync(draft, { recursive: true, force: true }))
    mkdirSync(draft)
    await make(draft)
    // Another program may have made the same in the meantime.
    if (!existsSync(path)) renameSync(draft, path)
    rmSync(draft, { recursive: true, force: true })
    forget()
  }
  const now = new Date()
  utimesSync(path, now, now)
  return path
}

function removeUnused(kind: string): void {
  for (const name of readdirSync(CACHE)) {
    const path = join(CACHE, name)
    const isOld = name.startsWith(`${kind}-`) && Date.now() - statSync(path).mtimeMs > UNUSED_MS
    if (isOld) rmSync(path, { recursive: true, force: true })
  }
}

/** Copies a folder into a temporary one. */
export function copyOf(folder: string): string {
  const copy = join(temporaryFolder(), 'copy')
  execFileSync('cp', ['-a', '--reflink=auto', folder, copy])
  // Pending disk writes would disturb the measurement.
  execFileSync('sync', ['-f', copy])
  return copy
}
