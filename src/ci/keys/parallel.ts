// `parallel` makes several jobs from one: a number of equal ones, or one for each combination of some variables.
import type { CiJob, CiVariable } from '../config-types.js'
import {
  given,
  kindOf,
  NAME_LIMIT,
  pathOf,
  printable,
  readNumber,
  readSection,
  reportAt,
  type Section,
  variableProblem
} from '../config-values.js'
import { keyText, type Yaml, type YamlMapping } from '../load-yaml.js'

const MOST_PARALLEL = 200

/** Returns the jobs that a job becomes: only the job itself without `parallel`. */
export function expandParallel(section: Section, job: CiJob): CiJob[] {
  const value = given(section, 'parallel')
  if (value === undefined) return [job]
  if (!(value instanceof Map)) {
    const total = readNumber(section, 'parallel', { least: 1, most: MOST_PARALLEL })
    return total === null ? [job] : named(section, job, counted(total))
  }
  const parallel = readSection(section, 'parallel')
  const combinations = parallel ? readMatrix(parallel) : []
  if (combinations.length > MOST_PARALLEL) {
    reportAt(section, 'parallel', `makes more than ${MOST_PARALLEL} jobs`)
    return [job]
  }
  return combinations.length === 0 ? [job] : named(section, job, combinations)
}

interface Copy {
  readonly suffix: string
  readonly variables: readonly CiVariable[]
}

const counted = (total: number): Copy[] =>
  Array.from({ length: total }, (_, at) => ({ suffix: ` ${at + 1}/${total}`, variables: [] }))

function named(section: Section, job: CiJob, copies: readonly Copy[]): CiJob[] {
  const total = copies.length
  const longest = Math.max(...copies.map(({ suffix }) => job.name.length + suffix.length))
  if (longest > NAME_LIMIT) reportAt(section, 'parallel', `makes names longer than ${NAME_LIMIT} characters`)
  return copies.map(({ suffix, variables }, at) => {
    const own = new Set(variables.map(({ key }) => key))
    return {
      ...job,
      name: job.name + suffix,
      variables: [...job.variables.filter(({ key }) => !own.has(key)), ...variables],
      ownVariables: [...new Set([...job.ownVariables, ...own])],
      parallel: { index: at + 1, total }
    }
  })
}

/** Returns the names of the jobs that `parallel` of an entry of `needs` selects. They have the form of the names of the job itself. */
export function pickedNames(job: string, need: Section): string[] {
  const parallel = readSection(need, 'parallel')
  return parallel ? readMatrix(parallel).map(({ suffix }) => job + suffix) : []
}

/** Returns all combinations of all entries of the matrix, at most one more than the limit. */
function readMatrix(parallel: Section): Copy[] {
  const other = [...parallel.entries.keys()].find(key => key !== 'matrix')
  if (other !== undefined) parallel.report(parallel.path, `unknown key \`${printable(keyText(other))}\``)
  const value = given(parallel, 'matrix')
  if (!Array.isArray(value) || value.length === 0) {
    reportAt(parallel, 'matrix', 'should be a list of mappings of names to lists of values')
    return []
  }
  const copies: Copy[] = []
  for (const [at, entry] of value.entries()) {
    if (entry instanceof Map && entry.size > 0) copies.push(...combine(parallel, entry, at))
    else reportAt(parallel, `matrix:${at + 1}`, `should be a mapping of names to lists of values, not ${kindOf(entry)}`)
    if (copies.length > MOST_PARALLEL) break
  }
  const names = copies.map(({ suffix }) => suffix)
  const twice = names.find((name, at) => names.indexOf(name) < at)
  if (twice !== undefined) reportAt(parallel, 'matrix', `has the combination${printable(twice)} twice`)
  return copies
}

function combine(parallel: Section, entry: YamlMapping, at: number): Copy[] {
  let combinations: CiVariable[][] = [[]]
  for (const [key, value] of entry) {
    const name = keyText(key)
    const path = pathOf(parallel, `matrix:${at + 1}:${printable(name)}`)
    const values = valuesOf(value)
    const problem = values ? variableProblem(name, values) : `should be text or a list of text, not ${kindOf(value)}`
    if (problem) parallel.report(path, problem)
    if (problem || !values) return []
    combinations = combinations.flatMap(known => values.map(text => [...known, { key: name, value: text }]))
    if (combinations.length > MOST_PARALLEL) break
  }
  return combinations.map(variables => ({
    suffix: `: [${variables.map(({ value }) => value).join(', ')}]`,
    variables
  }))
}

/** The texts of one value; undefined when part of it is not a text, number or boolean. */
function valuesOf(value: Yaml): string[] | undefined {
  const entries = Array.isArray(value) ? value : [value]
  const texts = entries.flatMap(entry => {
    if (entry === null || Array.isArray(entry) || entry instanceof Map) return []
    return typeof entry === 'object' && !('number' in entry) ? [] : [keyText(entry)]
  })
  return texts.length === entries.length && texts.length > 0 && texts.length <= MOST_PARALLEL ? texts : undefined
}
