// Prints the trace of a build, and follows it while it grows.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TraceState } from '../../areas/ci/builds/dashboard-builds.queries.js'
import { readTracePiece, sizeOfTrace, traceStateOf } from '../../areas/ci/builds/live-build.js'
import { type BuildStatus, isComplete } from '../../ci/status.js'
import { writeOut } from '../framework/list-all.js'
import { TerminalText } from '../output/terminal-text.js'

/** How often a trace is looked at for more. */
const POLL_MS = 200

/**
 * Writes the trace of a build to standard output. With `follow` it returns when the build has ended, or when the reader has
 * gone; otherwise at the end of what is there. Returns the status of the build. Throws NotFound when the build is removed
 * meanwhile.
 */
export async function printTrace(first: TraceState, follow: boolean): Promise<string> {
  const shown = process.stdout.isTTY ? new TerminalText() : undefined
  let build = first
  let at = 0
  for (;;) {
    // A worker that was stopped begins the same attempt again, with an empty trace.
    if ((await sizeOfTrace(build)) < at) at = restart('the build starts again')
    const end = await print(build, at, shown)
    if (end === undefined) return build.status
    at = end
    // Not specified: a build that waits to be started by hand may never start, so nobody waits for it.
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

/** Writes what the trace has after `start`. Returns its end; undefined when the reader has gone. */
async function print(build: TraceState, start: number, shown: TerminalText | undefined): Promise<number | undefined> {
  for (let at = start; ; ) {
    const piece = await readTracePiece(build, at)
    if (piece.length === 0) return at
    if (!(await writeOut(shown ? shown.of(piece) : piece))) return undefined
    at += piece.length
  }
}
