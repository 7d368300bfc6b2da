// Matches paths against the patterns of a CI file: `*`, `?`, `[abc]`, `{a,b}` and `**` between slashes. Any user can
// write such a pattern, and it runs in the appliance. Libraries convert patterns to regular expressions, in which a few
// stars can take hours. Here the cost of a name is at most its length times the length of the pattern.

type Token =
  | { readonly any: true }
  | { readonly star: true }
  | { readonly set: string; readonly not: boolean }
  | { readonly text: string }
type Segment = Token[] | '**'

const LONGEST_PATTERN = 1000
const MOST_ALTERNATIVES = 64

/**
 * Returns a test for relative paths without a leading `./`. The test is true when a pattern matches the path or a
 * folder above it. A pattern that is longer than 1000 characters or has more than 64 alternatives matches nothing.
 */
export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  return matcherOf(patterns.flatMap(pattern => alternatives(pattern).map(text => [...compile(text), '**' as const])))
}

/** Does the same, but only matches whole paths: `docs` does not match `docs/a`. */
export function fileMatcher(patterns: readonly string[]): (path: string) => boolean {
  return matcherOf(patterns.flatMap(pattern => alternatives(pattern).map(compile)))
}

function matcherOf(compiled: readonly Segment[][]): (path: string) => boolean {
  return path => {
    const names = path.split('/')
    return compiled.some(segments => matchSegments(segments, names))
  }
}

function alternatives(pattern: string): string[] {
  if (pattern.length > LONGEST_PATTERN) return []
  const done: string[] = []
  const open = [pattern]
  for (let text = open.pop(); text !== undefined; text = open.pop()) {
    const braces = /\{([^{}]*,[^{}]*)\}/.exec(text)
    if (!braces) done.push(text)
    else for (const part of (braces[1] ?? '').split(',')) open.push(text.replace(braces[0], () => part))
    if (open.length + done.length > MOST_ALTERNATIVES) return []
  }
  return done
}

function compile(pattern: string): Segment[] {
  const segments = pattern.split('/').filter(segment => segment !== '' && segment !== '.')
  return segments.map(segment => (segment === '**' ? segment : tokens(segment)))
}

function tokens(segment: string): Token[] {
  return [...segment.matchAll(/\[([!^]?)(\]?[^\]]*)\]|\\(.)|(.)/gsu)].map(([, not, set, escaped, plain]) => {
    if (set !== undefined) return { set, not: not !== '' }
    if (plain === '*') return { star: true }
    if (plain === '?') return { any: true }
    return { text: escaped ?? plain ?? '' }
  })
}

/**
 * Matches the whole path. `reached` contains the segments of the pattern that may come next, so one pass over the names
 * is enough for any number of `**`.
 */
function matchSegments(segments: Segment[], names: string[]): boolean {
  let reached = withSkipped(segments, new Set([0]))
  for (const name of names) {
    const next = new Set<number>()
    for (const at of reached) {
      const segment = segments[at]
      if (segment === '**') next.add(at)
      else if (segment && matchName(segment, [...name])) next.add(at + 1)
    }
    if (next.size === 0) return false
    reached = withSkipped(segments, next)
  }
  return reached.has(segments.length)
}

function withSkipped(segments: Segment[], reached: Set<number>): Set<number> {
  // A loop over a Set also visits elements that are added during the loop.
  for (const at of reached) if (segments[at] === '**') reached.add(at + 1)
  return reached
}

/** Matches one name. It backtracks only to the last star, which is enough for names. */
function matchName(pattern: Token[], name: string[]): boolean {
  let at = 0
  let star = -1
  let resume = 0
  for (let index = 0; index < name.length; ) {
    const token = pattern[at]
    if (token && 'star' in token) {
      star = at++
      resume = index
    } else if (token && matchOne(token, name[index] ?? '')) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++resume
    } else return false
  }
  return pattern.slice(at).every(token => 'star' in token)
}

function matchOne(token: Token, character: string): boolean {
  if ('any' in token) return true
  if ('text' in token) return token.text === character
  if (!('set' in token)) return false
  return inSet(token.set, character) !== token.not
}

function inSet(set: string, character: string): boolean {
  const characters = [...set]
  return characters.some((from, at) => {
    if (characters[at + 1] === '-' && characters[at + 2] !== undefined) {
      return from <= character && character <= (characters[at + 2] ?? '')
    }
    return from === character
  })
}
