// One build with the end of its trace, for the dashboard and for commands.
import { NotFound } from '../../../errors.js'
import { type BuildKey, readTrace, traceSize } from '../../../storage/traces.js'
import {
  findTraceState,
  findWatchedBuild,
  type TraceState,
  type WatchedBuildDetails
} from './dashboard-builds.queries.js'

/** The maximum number of bytes from the end of a trace. */
const TAIL = 65_536

export interface TraceTail {
  /** Bytes of the whole trace. */
  readonly size: number
  /** The last 64 KiB. If it is cut, it begins with a whole line. */
  readonly tail: string
}

/** Returns a build, and the end of its trace. Throws NotFound when the build does not exist. */
export async function watchBuild(id: number): Promise<{ build: WatchedBuildDetails; trace: TraceTail }> {
  const build = await findWatchedBuild(id)
  if (!build) throw new NotFound('Build')
  return { build, trace: await endOfTrace(build) }
}

/** Returns the name of a build's trace in the storage; undefined when the build has none. */
const traceKeyOf = ({ id, attempt, erased_at }: TraceState): BuildKey | undefined =>
  erased_at !== null || attempt === 0 ? undefined : { build: id, attempt }

/** Returns the state of a build's trace. Throws NotFound when the build does not exist. */
export async function traceStateOf(id: number): Promise<TraceState> {
  const build = await findTraceState(id)
  if (!build) throw new NotFound('Build')
  return build
}

/** Returns the current size of the trace in bytes; 0 without a trace. */
export async function sizeOfTrace(build: TraceState): Promise<number> {
  const key = traceKeyOf(build)
  return key ? traceSize(key) : 0
}

/** Bytes of one read while following a trace. */
const PIECE = 65_536

/** Returns the next bytes of a trace after `start`; empty at its end. */
export async function readTracePiece(build: TraceState, start: number): Promise<Buffer> {
  const key = traceKeyOf(build)
  return key ? readTrace(key, start, PIECE) : Buffer.alloc(0)
}

/** Returns the end of a trace, at most `most` bytes. */
export async function endOfTrace(build: TraceState, most = TAIL): Promise<TraceTail> {
  const key = traceKeyOf(build)
  if (!key) return { size: 0, tail: '' }
  const size = await traceSize(key)
  const text = (await readTrace(key, Math.max(0, size - most), most)).toString('utf8')
  // A cut in the middle of a line may also be in the middle of a character.
  return { size, tail: size > most ? text.slice(text.indexOf('\n') + 1) : text }
}
