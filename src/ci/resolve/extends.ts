// Resolves `extends`: a job inherits the keys of other jobs, which are mostly hidden ones.

import { nearest } from '../../lib/nearest.js'
import { printable, type Report } from '../config-values.js'
import { isReference, keyText, type Yaml, type YamlMapping } from '../load-yaml.js'
import { type MergeBudget, mergeMappings, spendMerge } from './merge.js'

const LEVELS = 11
const MOST_BASES = 20

interface Pass {
  readonly root: YamlMapping
  readonly done: Map<string, YamlMapping>
  readonly report: Report
  readonly budget: MergeBudget
  /** Names that are known to have a fault, so that each fault is reported once. */
  readonly wrong: Set<string>
}

/** Returns the root with every `extends` resolved. Faults are reported, and such a job then lacks what it extends. */
export function resolveExtends(root: YamlMapping, report: Report, budget: MergeBudget): YamlMapping {
  const pass: Pass = { root, done: new Map(), report, budget, wrong: new Set() }
  spendMerge(budget, root.size)
  const resolved: YamlMapping = new Map()
  for (const [key, value] of root) {
    const isJob = value instanceof Map && value.has('extends')
    resolved.set(key, isJob ? resolveJob(pass, keyText(key), value, []) : value)
  }
  return resolved
}

function resolveJob(pass: Pass, name: string, job: YamlMapping, from: readonly string[]): YamlMapping {
  const known = pass.done.get(name)
  if (known) return known
  const chain = [...from, name]
  const own: YamlMapping = new Map(job)
  own.delete('extends')
  let merged: YamlMapping = new Map()
  for (const base of basesOf(pass, name, job.get('extends') ?? null)) {
    const found = baseOf(pass, base, chain)
    if (found) merged = mergeMappings(merged, found, pass.budget)
  }
  merged = mergeMappings(merged, own, pass.budget)
  pass.done.set(name, merged)
  return merged
}

/** The resolved mapping of a base; undefined after a report. */
function baseOf(pass: Pass, base: string, chain: readonly string[]): YamlMapping | undefined {
  const name = chain.at(-1) ?? ''
  const job = pass.root.get(base)
  if (!(job instanceof Map)) return fault(pass, name, unknownBase(pass, base))
  if (chain.includes(base)) {
    const circle = [...chain.slice(chain.indexOf(base)), base].map(printable).join(' → ')
    return fault(pass, name, `extends itself: ${circle}`)
  }
  if (!job.has('extends')) return job
  if (chain.length >= LEVELS) return fault(pass, name, `extends over more than ${LEVELS} levels`)
  return resolveJob(pass, base, job, chain)
}

function unknownBase({ root }: Pass, base: string): string {
  const names = [...root].flatMap(([key, value]) => (value instanceof Map ? [keyText(key)] : []))
  const hint = nearest(base, names.slice(0, 1000))
  return `extends \`${printable(base)}\`, which is not in the file${hint === undefined ? '' : ` (did you mean \`${hint}\`?)`}`
}

function basesOf(pass: Pass, name: string, value: Yaml): string[] {
  if (typeof value === 'string') return [value]
  const names = Array.isArray(value) ? value.filter(entry => typeof entry === 'string') : []
  if (!Array.isArray(value) || names.length < value.length || isReference(value)) {
    fault(pass, name, 'should extend a name or a list of names')
    return []
  }
  if (names.length > MOST_BASES) {
    fault(pass, name, `extends more than ${MOST_BASES} others`)
    return []
  }
  return names
}

function fault(pass: Pass, name: string, problem: string): undefined {
  if (!pass.wrong.has(`${name} ${problem}`)) pass.report(`jobs:${printable(name)}`, problem)
  pass.wrong.add(`${name} ${problem}`)
  return undefined
}
