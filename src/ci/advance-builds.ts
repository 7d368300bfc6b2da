// Decides what happens next in a pipeline whose builds do not only follow their stages: some have needs, wait for a time, or
// share a resource. This file looks at the builds themselves; advance.ts does the same for other pipelines with counts only.
import { RUNS_AFTER } from './advance.js'
import type { BuildWhen } from './config-types.js'
import { aggregateStatus, type BuildStatus, counterOf, isComplete, noBuilds, statusOfCounts } from './status.js'

/** A build of a pipeline, the latest of its name. */
export interface AdvancingBuild {
  readonly id: number
  readonly name: string
  readonly status: BuildStatus
  readonly stageIndex: number
  readonly when: BuildWhen
  readonly allowFailure: boolean
  /** The names of builds that must end before; null means all builds of earlier stages. */
  readonly needs: readonly string[] | null
  /** Whether it waits for a time or a resource after its turn has come. */
  readonly waits: boolean
  /** Whether its turn has come and it is waiting. */
  readonly ready: boolean
}

/** The created builds whose turn has come. */
export interface NextMoves {
  readonly pending: readonly AdvancingBuild[]
  /** These wait for a time or a resource now, and stay created. */
  readonly ready: readonly AdvancingBuild[]
  readonly skipped: readonly AdvancingBuild[]
}

/**
 * Returns the moves of all builds whose turn has come. One call is enough: after these moves there are no others until a build
 * changes. A build may need only builds of its own stage or of earlier ones, and never in a circle.
 */
export function nextMoves(builds: readonly AdvancingBuild[]): NextMoves {
  const moves = { pending: [] as AdvancingBuild[], ready: [] as AdvancingBuild[], skipped: [] as AdvancingBuild[] }
  const now = new Map(builds.map(build => [build.name, build]))
  const earlier = noBuilds()
  for (const stage of stagesOf(builds)) {
    const prior = statusOfCounts(earlier)
    for (const build of inOrderOfNeeds(stage)) {
      const move = build.status === 'created' && !build.ready ? moveOf(build, prior, now) : null
      if (move === null) continue
      moves[move].push(build)
      if (move !== 'ready') now.set(build.name, { ...build, status: move })
    }
    for (const { name } of stage) {
      const build = now.get(name)
      if (build) earlier[counterOf(build)] += 1
    }
  }
  return moves
}

/** Returns the move of a created build; null when it has to wait for others. */
function moveOf(
  { when, needs, waits }: AdvancingBuild,
  ofStages: BuildStatus,
  now: ReadonlyMap<string, AdvancingBuild>
): keyof NextMoves | null {
  const needed = needs?.flatMap(name => now.get(name) ?? [])
  // This comes first, because most builds still wait.
  if (needed ? !needed.every(({ status }) => isComplete(status)) : !isComplete(ofStages)) return null
  const prior = needed ? aggregateStatus(needed) : ofStages
  // A stage that was skipped does not stop later ones, but a need that was skipped is not met.
  const unmet = needed?.some(({ status }) => status === 'skipped') && (when === 'on_success' || when === 'delayed')
  if (unmet || !RUNS_AFTER[when].includes(prior)) return 'skipped'
  return waits ? 'ready' : 'pending'
}

function stagesOf(builds: readonly AdvancingBuild[]): AdvancingBuild[][] {
  const stages = new Map<number, AdvancingBuild[]>()
  for (const build of builds) {
    const known = stages.get(build.stageIndex)
    if (known) known.push(build)
    else stages.set(build.stageIndex, [build])
  }
  return [...stages].sort(([a], [b]) => a - b).map(([, stage]) => stage)
}

/** The builds of a stage, each after the builds of the same stage that it needs. */
function inOrderOfNeeds(stage: readonly AdvancingBuild[]): AdvancingBuild[] {
  const byName = new Map(stage.map(build => [build.name, build]))
  const ordered: AdvancingBuild[] = []
  const entered = new Set<AdvancingBuild>()
  const path: { readonly build: AdvancingBuild; next: number }[] = []
  const enter = (build: AdvancingBuild | undefined) => {
    if (!build || entered.has(build)) return
    entered.add(build)
    path.push({ build, next: 0 })
  }
  for (const start of stage) {
    enter(start)
    for (let last = path.at(-1); last; last = path.at(-1)) {
      const name = last.build.needs?.[last.next++]
      if (name !== undefined) enter(byName.get(name))
      else if (path.pop()) ordered.push(last.build)
    }
  }
  return ordered
}

/**
 * Returns the skipped builds that get another chance when builds of these names run again: those that need them, with `stages`
 * also those that wait for their stages, and so on.
 */
export function buildsToRearm(
  builds: readonly AdvancingBuild[],
  names: ReadonlySet<string>,
  { stages }: { readonly stages: boolean }
): AdvancingBuild[] {
  const again = new Set(names)
  const rearmed: AdvancingBuild[] = []
  let first = Number.POSITIVE_INFINITY
  for (const stage of stagesOf(builds)) {
    const position = stage[0]?.stageIndex ?? 0
    for (const build of inOrderOfNeeds(stage)) {
      const affected = build.needs ? build.needs.some(name => again.has(name)) : stages && first < position
      if (affected && build.status === 'skipped') {
        again.add(build.name)
        rearmed.push(build)
      }
      if (again.has(build.name)) first = Math.min(first, position)
    }
  }
  return rearmed
}
