// Reports the figures of a benchmark: one line of JSON for each.

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The limit of the figure; null when it has none. */
  readonly limit: number | null
  readonly better: 'higher' | 'lower'
  /** For a ratio: the other side, which is measured in turns with ours in the same run. */
  readonly comparison?: string
  readonly detail?: { readonly [key: string]: unknown }
}

/** Whether a figure is within its limit; null when it has no limit. */
function isMet({ value, limit, better }: Figure): boolean | null {
  if (limit === null) return null
  return better === 'higher' ? value >= limit : value <= limit
}

/** Writes the line of a figure to stdout. */
export function report(figure: Figure): void {
  const { name, value, unit, limit, comparison, detail, better } = figure
  const line = { name, value: round(value), unit, limit, better, met: isMet(figure), comparison, ...rounded(detail) }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

const rounded = (detail: Figure['detail'] = {}) =>
  Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name, typeof value === 'number' ? round(value) : value])
  )

/** Rounds to three significant digits: more digits are noise. */
export function round(value: number): number {
  if (!Number.isFinite(value)) return value
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}

/** The smallest of the values that a `share` of all values (such as 0.5 or 0.99) does not exceed. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const median = (values: ArrayLike<number>) => percentile(values, 0.5)
