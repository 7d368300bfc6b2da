// Reads the files with variables that the script of a build writes for later builds (`reports: dotenv`).
import { realpath } from 'node:fs/promises'
import { Failure } from '../../errors.js'
import { pathMatcher } from '../../lib/glob.js'
import type { RunnerResult } from '../job.js'
import { type Run, StageFailure } from '../stages.js'
import { openInside, walk } from '../tree.js'
import { inProject } from './upload.js'

const MOST_FILES = 50
/** The most bytes of one file that are read: the limit of a report is lower (docs/reference/ci-file.md). */
const MOST_BYTES = 65_536

/** Stores the reported variables, whether or not the script succeeded. A report that cannot be read fails the build. */
export async function storeReports(run: Run, outcome: RunnerResult): Promise<void> {
  const { job, trace, port } = run
  const patterns = job.artifacts?.dotenv ?? []
  if (patterns.length === 0 || outcome.status === 'canceled' || outcome.reason === 'runner_system_failure') return
  trace.line('Reading the reported variables')
  try {
    await run.room?.bringBack()
    const text = await readReports(run, patterns)
    if (text) await port.putVariables(text)
    else trace.line('WARNING: no files match the report; no variables are stored')
  } catch (error) {
    port.signal.throwIfAborted()
    const why = error instanceof Failure ? error.message : 'the runner failed'
    const text = `the reported variables are not stored: ${why}`
    if (outcome.status === 'success') {
      const reason = error instanceof Failure ? 'script_failure' : 'runner_system_failure'
      throw new StageFailure(reason, text, undefined, { cause: error })
    }
    trace.line(`ERROR: ${text}`)
  }
}

/** Returns the content of all files, one after the other; undefined without any. */
async function readReports({ folders, places, trace, lookup, port }: Run, patterns: readonly string[]) {
  const { project } = places
  const matches = pathMatcher(patterns.flatMap(pattern => inProject(pattern, { project, trace, lookup })))
  const tree = await realpath(folders.project)
  const paths: string[] = []
  for await (const { path, entry } of walk(tree)) {
    port.signal.throwIfAborted()
    if (entry.isFile() && matches(path) && paths.length < MOST_FILES) paths.push(path)
  }
  const parts: Buffer[] = []
  for (const path of paths.sort()) {
    const handle = await openInside(tree, path, folders.user)
    if (!handle) continue
    const { buffer, bytesRead } = await handle
      .read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0)
      .finally(() => handle.close())
    parts.push(buffer.subarray(0, bytesRead), Buffer.from('\n'))
  }
  return parts.length === 0 ? undefined : Buffer.concat(parts)
}
