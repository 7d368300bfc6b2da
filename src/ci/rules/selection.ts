// Reads `only` and `except`, which decide in which pipelines a job is: a list of refs, or a mapping of conditions. All keys of
// `only` must hold, and no key of `except` may hold.
import type { CiJob, CiRule } from '../config-types.js'
import { checkKeys, given, readList, readSection, reportAt, type Section } from '../config-values.js'
import { refPatternProblem } from '../refs.js'
import { type Expression, readExpression } from './expression.js'
import { readGlobs, SILENT } from './read-rules.js'

const MOST_CONDITIONS = 50

type Selection = Pick<CiJob, 'only' | 'except' | 'onlyRule' | 'exceptRules'>

export function readSelection(section: Section): Selection {
  const [only, except] = [readPart(section, 'only'), readPart(section, 'except')]
  const { variables, changes } = except
  return {
    only: only.refs,
    except: except.refs,
    onlyRule: only.variables || only.changes ? ruleOf(only.variables, only.changes) : null,
    exceptRules: [...(variables ? [ruleOf(variables, null)] : []), ...(changes ? [ruleOf(null, changes)] : [])]
  }
}

interface Part {
  readonly refs: readonly string[]
  /** Holds when one of the conditions holds. */
  readonly variables: Expression | null
  readonly changes: readonly string[] | null
}

function readPart(section: Section, key: 'only' | 'except'): Part {
  const value = given(section, key)
  if (value !== undefined && given(section, 'rules') !== undefined) {
    reportAt(section, key, 'cannot be combined with rules')
  }
  const mapping = value instanceof Map ? readSection(section, key) : undefined
  if (!mapping) return { refs: readRefs(section, key), variables: null, changes: null }
  checkKeys(mapping, ['refs', 'variables', 'changes'], ['kubernetes'])
  return { refs: readRefs(mapping, 'refs'), variables: readConditions(mapping), changes: readGlobs(mapping, 'changes') }
}

const readRefs = (section: Section, key: string) => readList(section, key, { check: refPatternProblem }) ?? []

function readConditions(section: Section): Expression | null {
  const texts = readList(section, 'variables')
  if (texts === undefined) return null
  if (texts.length === 0) reportAt(section, 'variables', 'should not be empty')
  if (texts.length > MOST_CONDITIONS) {
    reportAt(section, 'variables', `are more than ${MOST_CONDITIONS}`)
    return null
  }
  const parts = texts.flatMap(text => {
    const { expression, problem } = readExpression(text)
    if (problem !== null) reportAt(section, 'variables', problem)
    return expression ? [expression] : []
  })
  return { kind: 'or', parts }
}

const ruleOf = (condition: Expression | null, changes: readonly string[] | null): CiRule => ({
  ...SILENT,
  if: condition,
  changes,
  compareTo: null,
  exists: null,
  when: null,
  variables: []
})
