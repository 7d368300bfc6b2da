// Decides by `only` and `except` to which refs and kinds of pipeline a job belongs.
import { compilePattern, matches, PatternError } from './pattern.js'

const REF_LIMIT = 255

/** What made a pipeline: `pipeline` is a build of another project, `parent_pipeline` one of the same. */
export type PipelineSource = 'push' | 'api' | 'trigger' | 'schedule' | 'pipeline' | 'parent_pipeline'

export interface RefContext {
  readonly ref: string
  readonly tag: boolean
  readonly source: PipelineSource
  /** `group/project`. */
  readonly projectPath: string
}

/** The problem of an entry of only or except, such as `is empty`; undefined when it has none. */
export function refPatternProblem(text: string): string | undefined {
  const expression = regularExpression(split(text).pattern)
  if (!expression) return text === '' ? 'is empty' : undefined
  return patternProblem(expression.source, expression.ignoreCase)
}

/** The problem of the text between the slashes of a regular expression; undefined when it has none. */
export function patternProblem(source: string, ignoreCase = false): string | undefined {
  try {
    compilePattern(source, ignoreCase)
    return undefined
  } catch (error) {
    if (error instanceof PatternError) return error.message
    throw error
  }
}

/**
 * Returns a function that decides whether a job with these lists belongs to the pipeline. All entries must be valid. Each entry
 * is matched only once, even when many jobs repeat it.
 */
export function selector(
  context: RefContext
): (job: { only: readonly string[]; except: readonly string[] }) => boolean {
  const known = new Map<string, boolean>()
  const matchesContext = (entry: string) => {
    const answer = known.get(entry) ?? matchesRef(entry, context)
    known.set(entry, answer)
    return answer
  }
  return ({ only, except }) => (only.length === 0 || only.some(matchesContext)) && !except.some(matchesContext)
}

/** Whether one entry (keyword, name or `/expression/`, with an optional `@group/project`) matches. */
export function matchesRef(entry: string, context: RefContext): boolean {
  const { pattern, path } = split(entry)
  if (path !== undefined && path !== context.projectPath) return false
  if (pattern === context.ref || matchesKeyword(pattern, context)) return true
  const expression = regularExpression(pattern)
  if (!expression || context.ref.length > REF_LIMIT) return false
  return matches(compilePattern(expression.source, expression.ignoreCase), context.ref)
}

/** Matches the keywords of the time of API v3, and those later keywords whose sources exist here. */
function matchesKeyword(pattern: string, context: RefContext): boolean {
  if (pattern === 'branches') return !context.tag
  if (pattern === 'tags') return context.tag
  if (pattern === 'triggers') return context.source === 'trigger'
  if (pattern === 'schedules') return context.source === 'schedule'
  if (pattern === 'pipelines') return context.source === 'pipeline'
  if (pattern === 'pushes') return context.source === 'push'
  return pattern === 'api' && context.source === 'api'
}

/**
 * Splits an entry at its first `@`. An expression that ends with its slash is not split, because no path of a project
 * ends with a slash.
 */
function split(entry: string): { pattern: string; path?: string } {
  const at = entry.indexOf('@')
  if (at < 0 || (entry.startsWith('/') && entry.endsWith('/'))) return { pattern: entry }
  return { pattern: entry.slice(0, at), path: entry.slice(at + 1) }
}

interface Expression {
  readonly source: string
  readonly ignoreCase: boolean
}

function regularExpression(pattern: string): Expression | undefined {
  const [, source, flag] = /^\/(.+)\/(i?)$/s.exec(pattern) ?? []
  return source === undefined ? undefined : { source, ignoreCase: flag === 'i' }
}
