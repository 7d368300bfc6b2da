// Decides what happens next in a pipeline from the counts of its stages, so that few rows are read even for many builds.
import type { BuildWhen } from './config-types.js'
import { type BuildStatus, isComplete, noBuilds, type StatusCounts, statusOfCounts } from './status.js'

export interface StageCounts {
  /** Stages run in the order of their positions, which may have gaps. */
  readonly position: number
  /** Counts of the latest builds of the stage: a build that was retried is no longer counted. */
  readonly counts: StatusCounts
}

/** A stage whose turn has come. Its created builds whose `when` is in `runs` become pending, the others skipped. */
export interface StageStart {
  readonly position: number
  readonly runs: readonly BuildWhen[]
}

/**
 * A build runs when the common status of all earlier stages is one of these. A manual build becomes skipped and waits
 * until somebody plays it.
 */
export const RUNS_AFTER: { readonly [When in BuildWhen]: readonly BuildStatus[] } = {
  on_success: ['success', 'skipped'],
  on_failure: ['failed'],
  always: ['success', 'failed', 'skipped'],
  manual: [],
  delayed: ['success', 'skipped']
}
const WHENS = Object.keys(RUNS_AFTER) as BuildWhen[]

/**
 * The first stage that has created builds and no longer waits for an earlier stage; null when there is none. Call it after
 * the pipeline is created and after every change of a build, until it returns null: when all builds of a stage are
 * skipped, the next stage can start as well.
 */
export function stageToStart(stages: readonly StageCounts[]): StageStart | null {
  const earlier = noBuilds()
  for (const { position, counts } of [...stages].sort((a, b) => a.position - b.position)) {
    // The first stage has no builds before it. Their status is skipped, which lets the same builds run as a success.
    const prior = statusOfCounts(earlier)
    if (!isComplete(prior)) return null
    if (counts.created > 0) return { position, runs: WHENS.filter(when => RUNS_AFTER[when].includes(prior)) }
    add(earlier, counts)
  }
  return null
}

/** The status of a pipeline with these stages. */
export function pipelineStatus(stages: readonly StageCounts[]): BuildStatus {
  const all = noBuilds()
  for (const { counts } of stages) add(all, counts)
  return statusOfCounts(all)
}

function add(to: StatusCounts, counts: StatusCounts): void {
  for (const kind of Object.keys(to) as (keyof StatusCounts)[]) to[kind] += counts[kind]
}
