// Runs many test files in this process, one after another: loading the application takes longer than most files do. Several
// processes share one list of files, and each takes the next free file, so that they end at the same time.
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startClock } from './times.js'

await import('./tap-domain.js')
const { runFile } = await import('./tap.js')

/** The folder that the processes share: the list, and an empty file for each test file that was taken, and that has ended. */
const [shared = ''] = process.argv.slice(2)
/** Bytes of a process that takes no more files: scripts/run-tests.mjs starts another one. */
const LARGE = 550 * 1024 ** 2
/** Milliseconds in which a process whose files have ended must end. */
const KEPT_MS = 30_000
const files = JSON.parse(readFileSync(join(shared, 'files.json'), 'utf8')) as string[]

for (const [at, file] of files.entries()) {
  if (!take(at)) continue
  const stop = startClock(file)
  await runFile(file, () => import(pathToFileURL(resolve(file)).href))
  stop()
  writeFileSync(join(shared, `${at}.ended`), '')
  if (process.memoryUsage.rss() > LARGE) break
}
// Work of the last file that is still running may have opened a pool again, whose connections would keep this process.
const { closeDatabase } = await import('../../src/db/connect/connection.js')
await closeDatabase()
setTimeout(() => {
  process.stderr.write(`the tests have ended, but something keeps their process: ${process.getActiveResourcesInfo()}\n`)
  process.exit(1)
}, KEPT_MS).unref()

/** False when another process was first. */
function take(at: number): boolean {
  try {
    closeSync(openSync(join(shared, String(at)), 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
