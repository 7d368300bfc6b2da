// Which branches and tags a mirror handles. A pattern is the name of a branch, in which one star stands for any characters. A full name
// such as refs/tags/v* names tags.
import { Invalid } from '../../../errors.js'
import { isNewRefName } from '../../../git/refs/refs.js'
import { matchesStars } from '../../../lib/stars.js'

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
const EVERYTHING: readonly string[] = [`${HEADS}*`, `${TAGS}*`]
const MOST_PATTERNS = 20

/** Returns the stored form; null for all branches and tags. Throws Invalid. */
export function storedPatterns(patterns: readonly string[]): string | null {
  const given = [...new Set(patterns.map(text => text.trim()).filter(text => text !== ''))]
  if (given.length > MOST_PATTERNS) throw new Invalid('branch_patterns', `has more than ${MOST_PATTERNS} patterns`)
  for (const text of given) {
    const isName = isNewRefName(fullName(text).replace('*', 'x'))
    if (!isName) throw new Invalid('branch_patterns', 'must be names of branches, each with at most one star')
  }
  return given.length === 0 ? null : given.join('\n')
}

export const shownPatterns = (stored: string | null): string[] => stored?.split('\n') ?? []

/** Returns the patterns as full names of refs. Without patterns, all branches and tags. */
export const fullPatterns = (stored: string | null): readonly string[] =>
  stored === null ? EVERYTHING : shownPatterns(stored).map(fullName)

export const matchesAny = (patterns: readonly string[], ref: string): boolean =>
  patterns.some(pattern => matchesStars(pattern, ref))

const fullName = (text: string): string => (text.startsWith(HEADS) || text.startsWith(TAGS) ? text : `${HEADS}${text}`)
