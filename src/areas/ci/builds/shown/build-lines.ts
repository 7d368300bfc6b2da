// What pages show of a build, and what its readers may do with it.

import { type BuildStatus, isComplete } from '../../../../ci/status.js'
import type { BuildRow } from '../builds.queries.js'

/** Returns a build as a line of a list shows it. */
export function shownBuild(build: BuildRow) {
  const { id, name, stage, status, allow_failure, started_at, finished_at } = build
  const isPlayable = status === 'skipped' && build.start_when === 'manual'
  return {
    ...{ id, name, stage, status, started_at, finished_at },
    word: isPlayable ? 'manual' : status,
    /** Why it failed, such as `script failure, exit code 1`. */
    reason: status === 'failed' ? reasonOf(build) : '',
    isAllowed: status === 'failed' && allow_failure === 1,
    duration: durationOf(build),
    isPlayable,
    isOver: isComplete(status as BuildStatus),
    isRetryable: ['success', 'failed', 'canceled'].includes(status)
  }
}

const reasonOf = ({ failure_reason: reason, exit_code: code }: BuildRow) =>
  [reason?.replaceAll('_', ' '), code === null ? null : `exit code ${code}`].filter(Boolean).join(', ')

/** Returns the seconds that a build has run so far; null before it starts. */
function durationOf({ started_at, finished_at }: BuildRow): number | null {
  if (!started_at) return null
  return Math.max(0, Math.round(((finished_at ?? new Date()).getTime() - started_at.getTime()) / 1000))
}
