// Finds the test coverage of a build in its log.
import { compilePattern, type Match, type Pattern, PatternError, search } from './pattern.js'

const LINE_LIMIT = 1000
// This many steps take about a second. An ordinary pattern takes one or two steps for each character.
const STEP_LIMIT = 30_000_000

/**
 * Returns the first number in the last match of the log; if the pattern has groups, in the last group of that match. `source`
 * is the text between the slashes. Each line is searched separately, up to 1000 characters. Null when there is no number or the
 * pattern is not valid.
 */
export function findCoverage(log: string, source: string): number | null {
  const pattern = compile(source)
  if (!pattern) return null
  const steps = { left: STEP_LIMIT }
  let end = log.length
  while (end >= 0 && steps.left > 0) {
    const start = log.lastIndexOf('\n', end - 1) + 1
    const line = log.slice(start, Math.min(end, start + LINE_LIMIT))
    steps.left -= (pattern.program.length * (line.length + 1)) >> 6
    steps.left -= 10
    const match = lastMatch(pattern, line, steps)
    if (match) return numberIn(match)
    if (start === 0) break
    end = start - 1
  }
  return null
}

function compile(source: string): Pattern | undefined {
  try {
    return compilePattern(source)
  } catch (error) {
    // The pattern of a project setting may be older than our checks. A wrong one must not fail the build.
    if (error instanceof PatternError) return undefined
    throw error
  }
}

function lastMatch(pattern: Pattern, line: string, steps: { left: number }): Match | undefined {
  let last: Match | undefined
  for (let from = 0; from <= line.length; ) {
    const match = search(pattern, line, from, steps)
    if (!match) break
    last = match
    from = Math.max(match.end, from + 1)
  }
  return last
}

function numberIn({ groups }: Match): number | null {
  const number = /\d+(?:\.\d+)?/.exec(groups.at(-1) ?? '')
  return number ? Number(number[0]) : null
}
