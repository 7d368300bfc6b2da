// Prints the trace of a build, and follows it while it grows.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TraceState } from '../../areas/ci/builds/dashboard-builds.queries.js'
import { readTracePiece, sizeOfTrace, traceStateOf } from '../../areas/ci/builds/live-build.js'
import { type BuildStatus, isComplete } from '../../ci/status.js'
import { writeOut } from '../framework/list-all.js'
import { TerminalText } from '../output/terminal-text.js'

/** How often to look for more of the trace. */
const POLL_MS = 200

/**
 * Writes the trace of a build to standard output. With `follow`, it continues until the build ends or the reader closes the
 * pipe; otherwise until the end of the current trace. Returns the status of the build. Throws NotFound when the build is
 * removed in the meantime.
 */
export async function printTrace(first: TraceState, follow: boolean): Promise<string> {
  const shown = process.stdout.isTTY ? new TerminalText() : undefined
  let build = first
  let at = 0
  for (;;) {
    // After a worker was stopped, the same attempt starts again with an empty trace.
    if ((await sizeOfTrace(build)) < at) at = restart('the build starts again')
    const end = await print(build, at, shown)
    if (end === undefined) return build.status
    at = end
    // Not specified: a build that waits to be started by hand may never start, so we do not wait for it.
    if (!follow || isComplete(build.status as BuildStatus)) return build.status
    await sleep(POLL_MS)
    const now = await traceStateOf(build.id)
    if (now.attempt !== build.attempt && at > 0) at = restart(`attempt ${now.attempt} of the build begins`)
    build = now
  }
}

function restart(why: string): number {
  process.stderr.write(`gitstead: ${why}\n`)
  return 0
}

/** Writes the trace from `start` on. Returns its end; undefined when the reader has closed the pipe. */
async function print(build: TraceState, start: number, shown: TerminalText | undefined): Promise<number | undefined> {
  for (let at = start; ; ) {
    const piece = await readTracePiece(build, at)
    if (piece.length === 0) return at
    if (!(await writeOut(shown ? shown.of(piece) : piece))) return undefined
    at += piece.length
  }
}
