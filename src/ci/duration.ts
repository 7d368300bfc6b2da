// Calculates how long a pipeline ran.

/** Whole seconds during which at least one of the intervals ran; overlaps count once. */
export function busySeconds(intervals: readonly { startedAt: Date; finishedAt: Date }[]): number {
  const sorted = intervals
    .map(({ startedAt, finishedAt }) => [startedAt.getTime(), finishedAt.getTime()] as const)
    .sort(([a], [b]) => a - b)
  let busy = 0
  let reached = Number.NEGATIVE_INFINITY
  for (const [start, end] of sorted) {
    const from = Math.max(start, reached)
    if (end <= from) continue
    busy += end - from
    reached = end
  }
  return Math.round(busy / 1000)
}
