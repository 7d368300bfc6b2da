// The traces of builds as HTML: the end of one for a page, and then what is added while somebody follows it.
import { type BuildStatus, isComplete } from '../../../../ci/status.js'
import { type BuildKey, readTrace, traceSize } from '../../../../storage/traces.js'
import { lastLines, placeOf, placeText, renderTrace, START } from '../../../../text/trace.js'
import type { BuildRow } from '../builds.queries.js'

export type TracedBuild = Pick<BuildRow, 'id' | 'attempt' | 'status' | 'erased_at'>

/** Where the next part begins. */
export interface TraceCursor {
  /** The run of the build: another one has another trace. */
  readonly attempt: number
  readonly offset: number
  readonly place: string
}

export interface TracePart extends TraceCursor {
  /** See RenderedTrace. */
  readonly pieces: readonly string[]
  readonly tail: string
  /** The build has ended, and this is the end of its trace. */
  readonly over: boolean
}

export interface ShownTrace extends TracePart {
  /** Bytes of the whole trace. */
  readonly size: number
  /** Bytes before the part that is shown. */
  readonly before: number
  /** Lines have their numbers in the whole trace. */
  readonly numbered: boolean
}

/** What a page shows of a trace. */
const SHOWN = { bytes: 196_608, lines: 3_000 }
/** The part of a trace, from its end, in which lines are counted. */
const COUNTED = 4_194_304
/** What one request of a follower gets. */
const PART = { bytes: 65_536, lines: 2_000 }

const keyOf = ({ id, attempt, erased_at }: TracedBuild): BuildKey | null =>
  erased_at !== null || attempt === 0 ? null : { build: id, attempt }

const hasEnded = ({ status }: TracedBuild) => isComplete(status as BuildStatus)

/** Returns the end of a trace as HTML; null when the build has no output. */
export async function readTraceEnd(build: TracedBuild): Promise<ShownTrace | null> {
  const key = keyOf(build)
  const size = key ? await traceSize(key) : 0
  if (!key || (size === 0 && hasEnded(build))) return null
  const begin = Math.max(0, size - COUNTED)
  const bytes = await readTrace(key, begin, COUNTED)
  const { start, line } = lastLines(bytes, SHOWN)
  const over = hasEnded(build)
  const { length, next, ...html } = renderTrace(bytes.subarray(start), { ...START, line }, { whole: over })
  const before = begin + start
  return {
    ...html,
    attempt: build.attempt,
    offset: before + length,
    place: placeText(next),
    over,
    size: begin + bytes.length,
    before,
    numbered: begin === 0
  }
}

/** Returns what a trace has after a cursor; null when it no longer belongs to this trace. */
export async function readTraceSince(build: TracedBuild, cursor: TraceCursor): Promise<TracePart | null> {
  const key = keyOf(build)
  if (!key || cursor.attempt !== build.attempt) return null
  const found = await readTrace(key, cursor.offset, PART.bytes)
  const bytes = firstLines(found)
  const over = hasEnded(build) && bytes.length < PART.bytes && bytes.length === found.length
  const { length, next, ...html } = renderTrace(bytes, placeOf(cursor.place), { whole: over })
  return { ...html, attempt: build.attempt, offset: cursor.offset + length, place: placeText(next), over }
}

function firstLines(bytes: Buffer): Buffer {
  let end = 0
  for (let lines = 0; lines < PART.lines; lines++) {
    const found = bytes.indexOf('\n', end)
    if (found < 0) return bytes
    end = found + 1
  }
  return bytes.subarray(0, end)
}
