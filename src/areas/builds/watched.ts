// One build with the end of its trace, for the dashboard.
import { NotFound } from '../../errors.js'
import { type BuildKey, readTrace, traceSize } from '../../storage/traces.js'
import { findWatchedBuild, type WatchedBuildDetails } from './watched.queries.js'

/** Bytes of the end of a trace that are shown. */
export const TAIL = 65_536

export interface TraceTail {
  /** Bytes of the whole trace. */
  readonly size: number
  /** The last 64 KiB. When something is missing before it, it begins with a whole line. */
  readonly tail: string
}

/** Returns a build, and the end of its trace. Throws NotFound when the build does not exist. */
export async function watchBuild(id: number): Promise<{ build: WatchedBuildDetails; trace: TraceTail }> {
  const build = await findWatchedBuild(id)
  if (!build) throw new NotFound('Build')
  const none = build.erased_at !== null || build.attempt === 0
  return { build, trace: none ? { size: 0, tail: '' } : await tailOf({ build: build.id, attempt: build.attempt }) }
}

async function tailOf(key: BuildKey): Promise<TraceTail> {
  const size = await traceSize(key)
  const text = (await readTrace(key, Math.max(0, size - TAIL), TAIL)).toString('utf8')
  // A cut in the middle of a line may also be in the middle of a character.
  return { size, tail: size > TAIL ? text.slice(text.indexOf('\n') + 1) : text }
}
