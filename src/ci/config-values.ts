// Reads typed values from one mapping of a CI file. Each reader reports a wrong value and gives a harmless one instead,
// so that one pass finds all errors.
import type { CiVariable } from './config-types.js'
import { keyText, type Yaml, type YamlMapping } from './load-yaml.js'
import { nearest } from './nearest.js'

/** Takes a path such as `jobs:rspec:artifacts`, and a problem that continues the sentence, such as `is empty`. */
export type Report = (path: string, problem: string) => void

export interface Section {
  readonly path: string
  readonly entries: YamlMapping
  readonly report: Report
}

export const NAME_LIMIT = 255
/** The longest value of a variable, in bytes: the kernel starts no program with a variable of 128 KiB. */
const VALUE_LIMIT = 100_000

/** A text of a user for a message: one line of at most 64 characters. */
export function printable(text: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')
  return line.length > 64 ? `${line.slice(0, 63)}…` : line
}

/** The value of a key; undefined when the key is absent or empty. */
export function given(section: Section, key: string): Yaml | undefined {
  return section.entries.get(key) ?? undefined
}

export function pathOf(section: Section, key: string): string {
  return section.path === '' ? key : `${section.path}:${key}`
}

export function reportAt(section: Section, key: string, problem: string): void {
  section.report(pathOf(section, key), problem)
}

/** A mapping below `section`; undefined when the key is absent. Reports a value that is not a mapping. */
export function readSection(section: Section, key: string): Section | undefined {
  const value = given(section, key)
  if (value === undefined) return undefined
  if (value instanceof Map) return { path: pathOf(section, key), entries: value, report: section.report }
  reportAt(section, key, `should be a mapping, not ${kindOf(value)}`)
  return undefined
}

/** Reports every unknown key. `later` are keys of later versions of the format. */
export function checkKeys(section: Section, known: readonly string[], later: readonly string[]): void {
  for (const key of section.entries.keys()) {
    const name = keyText(key)
    if (typeof key === 'string' && known.includes(name)) continue
    if (later.includes(name)) {
      section.report(section.path, `key \`${name}\` is not supported by this service`)
      continue
    }
    const hint = nearest(name, known)
    section.report(
      section.path,
      `unknown key \`${printable(name)}\`${hint === undefined ? '' : ` (did you mean \`${hint}\`?)`}`
    )
  }
}

export function readText(section: Section, key: string, limit = Number.POSITIVE_INFINITY): string | null {
  const value = given(section, key)
  if (value === undefined) return null
  if (typeof value !== 'string') reportAt(section, key, `should be text, not ${kindOf(value)}${advice(value)}`)
  else if (value === '') reportAt(section, key, 'should not be empty')
  else if (value.length > limit) reportAt(section, key, `is longer than ${limit} characters`)
  else return value
  return null
}

export function readChoice<T extends string>(section: Section, key: string, choices: readonly T[], otherwise: T): T {
  const value = given(section, key)
  if (value === undefined) return otherwise
  const choice = choices.find(choice => choice === value)
  if (choice === undefined) reportAt(section, key, `should be one of ${choices.join(', ')}`)
  return choice ?? otherwise
}

export function readFlag(section: Section, key: string): boolean {
  const value = given(section, key)
  if (value === undefined || typeof value === 'boolean') return value ?? false
  reportAt(section, key, `should be true or false, not ${kindOf(value)}`)
  return false
}

interface ListRules {
  /** True: a single text counts as a list with that text. */
  readonly single?: boolean
  /** The problem of an entry, such as `is empty`; undefined when it has none. */
  readonly check?: (entry: string) => string | undefined
}

/** A list of texts; undefined when the key is absent. */
export function readList(section: Section, key: string, rules: ListRules = {}): string[] | undefined {
  const value = given(section, key)
  if (value === undefined) return undefined
  const expected = rules.single ? 'should be text or a list of text' : 'should be a list of text'
  const entries = rules.single && typeof value === 'string' ? [value] : value
  if (!Array.isArray(entries)) {
    reportAt(section, key, `${expected}, not ${kindOf(entries)}`)
    return []
  }
  const wrong = entries.findIndex(entry => typeof entry !== 'string')
  if (wrong >= 0) {
    reportAt(
      section,
      key,
      `${expected} (entry ${wrong + 1} is ${kindOf(entries[wrong] ?? null)}${advice(entries[wrong] ?? null)})`
    )
    return []
  }
  const texts = entries.filter(entry => typeof entry === 'string')
  for (const text of texts) {
    const problem = rules.check?.(text)
    if (problem) reportAt(section, key, `\`${printable(text)}\` ${problem}`)
  }
  return texts
}

/** The problem of a text that becomes a name in the database; undefined when it has none. */
export function nameProblem(text: string): string | undefined {
  if (text.trim() === '') return 'should not be empty'
  return text.length > NAME_LIMIT ? `is longer than ${NAME_LIMIT} characters` : undefined
}

/** The variables of the mapping `variables`; an empty list means no variables. A number keeps its text as written. */
export function readVariables(section: Section): CiVariable[] {
  const value = given(section, 'variables')
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return []
  if (!(value instanceof Map)) {
    reportAt(section, 'variables', `should be a mapping of names to text, not ${kindOf(value)}`)
    return []
  }
  return [...value].flatMap(([key, entry]) => {
    const name = keyText(key)
    const path = pathOf(section, `variables:${printable(name)}`)
    if (!/^\w+$/.test(name)) section.report(path, 'has a name that is not made of letters, digits and _')
    else if (name.length > NAME_LIMIT) section.report(path, `has a name longer than ${NAME_LIMIT} characters`)
    else if (Array.isArray(entry) || entry instanceof Map)
      section.report(path, `should be text, a number or a boolean, not ${kindOf(entry)}`)
    else if (entry !== null && Buffer.byteLength(keyText(entry)) > VALUE_LIMIT)
      section.report(path, `is longer than ${VALUE_LIMIT} bytes`)
    else return [{ key: name, value: entry === null ? '' : keyText(entry) }]
    return []
  })
}

/** The kind of a value in words, for a message. */
export function kindOf(value: Yaml): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Map) return 'a mapping'
  if (typeof value === 'string') return 'text'
  return typeof value === 'boolean' ? 'a boolean' : 'a number'
}

/** A hint for a message. In YAML, `- true` and `- echo a: b` are not texts, which surprises people. */
export function advice(value: Yaml): string {
  if (value === null || typeof value === 'string' || Array.isArray(value)) return ''
  return value instanceof Map ? '; text that contains `: ` needs quotes' : ': put it in quotes'
}
