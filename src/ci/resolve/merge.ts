// Merges mappings of a CI file, for include and extends.
import { keyText, type Yaml, type YamlKey, type YamlMapping } from '../load-yaml.js'

/** How many entries all merges of one file may copy: a few lines could otherwise cause billions. */
export interface MergeBudget {
  left: number
}

export const MERGE_LIMIT = 500_000

export class MergesTooMuch extends Error {
  constructor() {
    super('is too large once include, extends and !reference are resolved')
  }
}

export function spendMerge(budget: MergeBudget, entries: number): void {
  budget.left -= entries
  if (budget.left < 0) throw new MergesTooMuch()
}

/** Merges two mappings; `over` wins. Mappings are merged key by key, all other values are replaced. Neither argument changes. */
export function mergeMappings(under: YamlMapping, over: YamlMapping, budget: MergeBudget): YamlMapping {
  spendMerge(budget, under.size + over.size)
  const merged: YamlMapping = new Map(under)
  const names = new Map([...under.keys()].map(key => [keyText(key), key]))
  for (const [key, value] of over) {
    const known = names.get(keyText(key))
    merged.set(known ?? key, mergeValues(known === undefined ? null : (under.get(known) ?? null), value, budget))
  }
  return merged
}

const mergeValues = (under: Yaml, over: Yaml, budget: MergeBudget): Yaml =>
  under instanceof Map && over instanceof Map ? mergeMappings(under, over, budget) : over

/** The key of a mapping that has this text. */
export const keyOf = (mapping: YamlMapping, name: string): YamlKey | undefined =>
  mapping.has(name) ? name : [...mapping.keys()].find(key => keyText(key) === name)
