// Resolves `!reference [job, key]`: a value from another place in the file. In a list, a referenced list is replaced by its
// entries.
import { printable, type Report } from '../config-values.js'
import { isReference, keyText, type Yaml, type YamlKey, type YamlMapping, type YamlReference } from '../load-yaml.js'
import { keyOf, type MergeBudget, spendMerge } from './merge.js'

const LEVELS = 10

interface Pass {
  readonly root: YamlMapping
  readonly report: Report
  readonly budget: MergeBudget
  /** The values of references that are already resolved. */
  readonly known: Map<string, Yaml>
  /** Lists and mappings that are already resolved: jobs share what they extend. */
  readonly done: Map<Yaml, Yaml>
}

/** Returns the root with every `!reference` of its visible keys replaced. Faults are reported, and null replaces such a value. */
export function resolveReferences(root: YamlMapping, report: Report, budget: MergeBudget): YamlMapping {
  const pass: Pass = { root, report, budget, known: new Map(), done: new Map() }
  const resolved: YamlMapping = new Map()
  for (const [key, value] of root) {
    const name = keyText(key)
    resolved.set(key, name.startsWith('.') ? value : resolve(pass, value, place(name), []))
  }
  return resolved
}

const place = (name: string) => `jobs:${printable(name)}`

/** Returns the same value when it contains no reference. */
function resolve(pass: Pass, value: Yaml, path: string, chain: readonly string[]): Yaml {
  if (isReference(value)) return follow(pass, value, path, chain)
  if (!Array.isArray(value) && !(value instanceof Map)) return value
  const known = pass.done.get(value)
  if (known !== undefined) return known
  const resolved = Array.isArray(value)
    ? resolveList(pass, value, path, chain)
    : resolveMapping(pass, value, path, chain)
  pass.done.set(value, resolved)
  return resolved
}

function resolveList(pass: Pass, list: readonly Yaml[], path: string, chain: readonly string[]): Yaml[] {
  const resolved: Yaml[] = []
  for (const entry of list) {
    const value = resolve(pass, entry, path, chain)
    const spliced = isReference(entry) && Array.isArray(value) ? value : [value]
    spendMerge(pass.budget, spliced.length)
    for (const item of spliced) resolved.push(item)
  }
  return resolved
}

function resolveMapping(pass: Pass, mapping: YamlMapping, path: string, chain: readonly string[]): YamlMapping {
  spendMerge(pass.budget, mapping.size)
  const resolved: YamlMapping = new Map()
  for (const [key, value] of mapping) resolved.set(key, resolve(pass, value, path, chain))
  return resolved
}

function follow(pass: Pass, { reference }: YamlReference, path: string, chain: readonly string[]): Yaml {
  const name = reference.join(' ')
  const shown = `!reference [${reference.map(printable).join(', ')}]`
  if (pass.known.has(name)) return pass.known.get(name) ?? null
  if (chain.includes(name)) return fault(pass, path, `${shown} refers to itself`)
  if (chain.length >= LEVELS) return fault(pass, path, `${shown} refers to others over more than ${LEVELS} levels`)
  let found: Yaml = pass.root
  for (const part of reference) {
    const key: YamlKey | undefined = found instanceof Map ? keyOf(found, part) : undefined
    if (!(found instanceof Map) || key === undefined) return fault(pass, path, `${shown} is not in the file`)
    found = found.get(key) ?? null
  }
  const value = resolve(pass, found, path, [...chain, name])
  pass.known.set(name, value)
  return value
}

function fault(pass: Pass, path: string, problem: string): null {
  pass.report(path, problem)
  return null
}
