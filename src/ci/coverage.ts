// The share of code that a build's tests reached, as its log says.
import { compilePattern, type Match, type Pattern, PatternError, search } from './pattern.js'

const lineLimit = 1000
// About a second at the worst. An ordinary pattern takes one or two steps for each character.
const stepLimit = 30_000_000

/**
 * The number in the last match of the log: in its last group, if the pattern has one. `source` is the text between the
 * slashes. Lines are searched one by one, each up to 1000 characters. Null if there is none or the pattern is not valid.
 */
export function findCoverage(log: string, source: string): number | null {
  const pattern = compile(source)
  if (!pattern) return null
  const steps = { left: stepLimit }
  let end = log.length
  while (end >= 0 && steps.left > 0) {
    const start = log.lastIndexOf('\n', end - 1) + 1
    const line = log.slice(start, Math.min(end, start + lineLimit))
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
    // The project's own setting is older than any check of it, and its fault must not fail the build.
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
