// Decides which rule of a job or workflow holds for a pipeline. Anybody who may push writes rules, so all rules of one pipeline
// share a budget: when it is spent, the pipeline is refused instead of delaying others.
import { fileMatcher } from '../../lib/glob.js'
import type { CiRule, CiVariable } from '../config-types.js'
import { compilePattern, type Pattern, PatternError, search } from '../pattern.js'
import type { Expression, Operand } from './expression.js'

/** The most steps of the engine of regular expressions: about a second. */
const PATTERN_STEPS = 20_000_000
/** The most that comparing paths with patterns may cost, by the lengths of both: about a second. */
const PATH_STEPS = 3_000_000
/** Only the beginning of a longer value is compared with a regular expression. */
const TEXT_LIMIT = 10_000
/** How many levels of variables that refer to other variables are replaced. */
const EXPANSIONS = 5
/** Variables are no longer replaced in a text that has become longer than this. */
const EXPANDED_LIMIT = 100_000

/** The rules of a pipeline need more work than one pipeline may take. */
export class RulesTooLarge extends Error {
  constructor() {
    super('the rules take too long to evaluate: they have too many or too expensive patterns')
  }
}

export interface RuleFacts {
  /** The paths that the push changed; null when there is nothing to compare with, and then every path counts as changed. */
  readonly changed: readonly string[] | null
  /** The same for each ref of `compare_to`. */
  readonly changedSince?: ReadonlyMap<string, readonly string[] | null>
  /** The paths of all files of the commit. */
  readonly files: readonly string[]
}

export interface RuleJudge {
  /** The first rule that holds; undefined when none does. */
  readonly choose: (rules: readonly CiRule[], variables: Values) => CiRule | undefined
  readonly holds: (rule: CiRule, variables: Values) => boolean
}

/** The variables of a job by their names. */
export type Values = Pick<ReadonlyMap<string, string>, 'get'>

export const valuesOf = (list: readonly CiVariable[]): Values => new Map(list.map(({ key, value }) => [key, value]))

/** When several layers have a name, the last wins. Nothing is copied: a thousand jobs share most of their variables. */
export const layered = (...layers: readonly Values[]): Values => ({
  get: name => layers.findLast(layer => layer.get(name) !== undefined)?.get(name)
})

/** Judges all rules of one pipeline. Throws RulesTooLarge when they need too much work. */
export function ruleJudge(facts: RuleFacts): RuleJudge {
  const budget = { left: PATTERN_STEPS }
  const left = { left: PATH_STEPS }
  const changed = facts.changed && pathsOf(facts.changed, left)
  const files = pathsOf(facts.files, left)
  const since = new Map([...(facts.changedSince ?? [])].map(([name, paths]) => [name, paths && pathsOf(paths, left)]))
  const hasChanged = (patterns: readonly string[], compareTo: string | null) => {
    const matches = compareTo === null ? changed : (since.get(compareTo) ?? null)
    return matches === null || matches(patterns)
  }
  const holds = (rule: CiRule, variables: Values) =>
    (rule.if === null || isTrue(rule.if, variables, budget)) &&
    (rule.changes === null || hasChanged(rule.changes, rule.compareTo)) &&
    (rule.exists === null || files(rule.exists))
  return { choose: (rules, variables) => rules.find(rule => holds(rule, variables)), holds }
}

/** Returns a function that decides whether one of the patterns matches one of these paths. Many jobs have the same patterns. */
function pathsOf(paths: readonly string[], budget: { left: number }): (patterns: readonly string[]) => boolean {
  const known = new Map<string, boolean>()
  const names = new Set(paths)
  const find = (patterns: readonly string[]) => {
    const globs = patterns.map(glob => glob.replace(/^\/+/, ''))
    // Most patterns are just names of files.
    if (globs.some(glob => names.has(glob))) return true
    return globs.some(glob => /[*?[{\\]/.test(glob) && hasMatchingPath(glob))
  }
  // Most patterns begin with the name of a folder, which is compared first.
  const hasMatchingPath = (glob: string) => {
    const folder = /^[^*?[{\\]*/.exec(glob)?.[0] ?? ''
    const among = paths.filter(path => path.startsWith(folder))
    spend(budget, paths.length / 64 + (1 + glob.length / 8) * weigh(among, 32))
    return among.some(fileMatcher([glob]))
  }
  return patterns => {
    const key = patterns.join('\0')
    const answer = known.get(key) ?? find(patterns)
    known.set(key, answer)
    return answer
  }
}

const weigh = (texts: readonly string[], unit: number) => texts.reduce((sum, text) => sum + 1 + text.length / unit, 0)

function isTrue(expression: Expression, variables: Values, budget: { left: number }): boolean {
  // Each node costs something, so that a thousand jobs with long conditions are bounded, too.
  spend(budget, 10)
  if (expression.kind === 'present') return Boolean(textOf(expression.operand, variables))
  if (expression.kind !== 'compare') {
    const holds = (part: Expression) => isTrue(part, variables, budget)
    return expression.kind === 'and' ? expression.parts.every(holds) : expression.parts.some(holds)
  }
  const { operator, right } = expression
  const left = textOf(expression.left, variables)
  if (operator === '==' || operator === '!=') return (left === textOf(right, variables)) === (operator === '==')
  const pattern = patternOf(right, variables)
  const found = pattern !== undefined && left !== null && hasMatch(pattern, left.slice(0, TEXT_LIMIT), budget)
  return found === (operator === '=~')
}

function textOf(operand: Operand, variables: Values): string | null {
  if (operand.kind === 'text') return operand.text
  return operand.kind === 'variable' ? valueNamed(operand.name, variables) : null
}

/** The value with the variables in it replaced, as scripts see it; null when the variable does not exist. */
function valueNamed(name: string, variables: Values): string | null {
  let text = variables.get(name)
  if (text === undefined) return null
  for (let times = 0; times < EXPANSIONS && text.includes('$') && text.length <= TEXT_LIMIT; times++) {
    const next = expandValues(text, variables)
    if (next === text) break
    text = next
  }
  return text
}

/** Replaces `$X` and `${X}` with the values; an unknown name becomes an empty text. */
export function expandValues(text: string, variables: Values): string {
  let left = EXPANDED_LIMIT
  return text.replace(/\$(?:([A-Za-z_]\w*)|\{(\w+)\})/g, (whole, bare?: string, braced?: string) => {
    const value = variables.get(bare ?? braced ?? '') ?? ''
    left -= value.length
    return left < 0 ? whole : value
  })
}

function patternOf(operand: Operand, variables: Values): Pattern | undefined {
  if (operand.kind === 'pattern') return compiled(operand.source, operand.ignoreCase)
  const [, source, flag] = /^\/(.+)\/(i?)$/s.exec(textOf(operand, variables) ?? '') ?? []
  return source === undefined ? undefined : compiled(source, flag === 'i')
}

/** A variable may have any value: an invalid regular expression matches nothing. */
function compiled(source: string, ignoreCase: boolean): Pattern | undefined {
  try {
    return compilePattern(source, ignoreCase)
  } catch (error) {
    if (error instanceof PatternError) return undefined
    throw error
  }
}

function hasMatch(pattern: Pattern, text: string, budget: { left: number }): boolean {
  spend(budget, (pattern.program.length * (text.length + 1)) >> 6)
  const found = search(pattern, text, 0, budget) !== undefined
  spend(budget, 0)
  return found
}

function spend(budget: { left: number }, steps: number): void {
  budget.left -= steps
  if (budget.left < 0) throw new RulesTooLarge()
}
