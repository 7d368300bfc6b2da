// Reads `rules` of a job, of the workflow or of an include.
import { BUILD_WHENS, type CiNeed, type CiRule } from '../config-types.js'
import {
  checkKeys,
  given,
  kindOf,
  pathOf,
  readChoice,
  readFlag,
  readList,
  readSection,
  readText,
  readVariables,
  reportAt,
  type Section
} from '../config-values.js'
import { readNeeds } from '../keys/needs.js'
import { readStartIn } from '../keys/timing.js'
import type { Yaml } from '../load-yaml.js'
import { type Expression, readExpression } from './expression.js'

const MOST_RULES = 100
const MOST_GLOBS = 50
const GLOB_LENGTH = 500

const CONDITIONS = ['if', 'changes', 'exists', 'when', 'variables']
const OF_JOBS = ['allow_failure', 'needs', 'interruptible', 'start_in']
const WHENS = [...BUILD_WHENS, 'never'] as const

/** The fields of a rule that changes nothing in the job. */
export const SILENT = { startIn: null, allowFailure: null, needs: null, interruptible: null } as const

/** The rules of a job; null when it has none. */
export const readRules = (section: Section): CiRule[] | null =>
  readEntries(section, rule => {
    checkKeys(rule, [...CONDITIONS, ...OF_JOBS], ['auto_cancel'])
    const when = given(rule, 'when') === undefined ? null : readChoice(rule, 'when', WHENS, 'on_success')
    return {
      ...conditionsOf(rule),
      when,
      startIn: readStartIn(rule, when),
      allowFailure: given(rule, 'allow_failure') === undefined ? null : readFlag(rule, 'allow_failure'),
      needs: readNeeds(rule, { refuseOuter: true }) as CiNeed[] | null,
      interruptible: given(rule, 'interruptible') === undefined ? null : readFlag(rule, 'interruptible')
    }
  })

/** The rules of the workflow, which can only be `always` or `never`. */
export const readWorkflowRules = (section: Section): CiRule[] | null =>
  readEntries(section, rule => {
    checkKeys(rule, CONDITIONS, ['auto_cancel'])
    const when = readChoice(rule, 'when', ['always', 'never'] as const, 'always')
    return { ...conditionsOf(rule), ...SILENT, when }
  })

/** The rules of an entry of `include`; null when it has none. */
export const readIncludeRules = (section: Section): CiRule[] | null =>
  readEntries(section, rule => {
    checkKeys(rule, ['if', 'changes', 'exists', 'when'], [])
    const when = readChoice(rule, 'when', ['always', 'never'] as const, 'always')
    return { ...conditionsOf(rule), ...SILENT, when }
  })

function readEntries(section: Section, read: (rule: Section) => CiRule): CiRule[] | null {
  const value = given(section, 'rules')
  if (value === undefined) return null
  if (!Array.isArray(value)) {
    reportAt(section, 'rules', `should be a list of mappings, not ${kindOf(value)}`)
    return null
  }
  const entries = value.flat(1) as Yaml[]
  if (entries.length === 0) return null
  if (entries.length > MOST_RULES) {
    reportAt(section, 'rules', `are more than ${MOST_RULES}`)
    return null
  }
  return entries.flatMap((entry, at) => {
    const path = pathOf(section, `rules:${at + 1}`)
    if (entry instanceof Map) return [read({ ...section, path, entries: entry })]
    section.report(path, `should be a mapping, not ${kindOf(entry)}`)
    return []
  })
}

const conditionsOf = (rule: Section) => ({
  if: readIf(rule),
  changes: readGlobs(rule, 'changes', ['paths', 'compare_to']),
  compareTo: readCompareTo(rule),
  exists: readGlobs(rule, 'exists'),
  variables: readVariables(rule)
})

function readIf(rule: Section): Expression | null {
  const value = given(rule, 'if')
  if (value === undefined) return null
  if (typeof value !== 'string') {
    reportAt(rule, 'if', `should be a condition, not ${kindOf(value)}`)
    return null
  }
  const { expression, problem } = readExpression(value)
  if (problem !== null) reportAt(rule, 'if', problem)
  return expression
}

/** The patterns of paths of a condition; null when the key is absent. */
export function readGlobs(
  rule: Section,
  key: 'changes' | 'exists',
  known: readonly string[] = ['paths']
): string[] | null {
  if (given(rule, key) === undefined) return null
  const mapped = given(rule, key) instanceof Map ? readSection(rule, key) : undefined
  if (mapped) checkKeys(mapped, known, ['compare_to', 'project', 'ref'])
  const [place, name] = mapped ? [mapped, 'paths'] : [rule, key]
  const globs = readList(place, name, { check: globProblem }) ?? []
  if (globs.length === 0) reportAt(place, name, 'should not be empty')
  if (globs.length > MOST_GLOBS) reportAt(place, name, `are more than ${MOST_GLOBS}`)
  return globs
}

/** The ref that `changes` compares with; null for the commit before the push. */
function readCompareTo(rule: Section): string | null {
  if (!(given(rule, 'changes') instanceof Map)) return null
  const changes = readSection(rule, 'changes')
  return changes ? readText(changes, 'compare_to', 255) : null
}

function globProblem(glob: string): string | undefined {
  if (glob.trim() === '') return 'should not be empty'
  return glob.length > GLOB_LENGTH ? `is longer than ${GLOB_LENGTH} characters` : undefined
}
