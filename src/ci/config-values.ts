// Reads typed values from one mapping of a CI file. Each reader reports a wrong value and returns a harmless one instead, so
// that one pass finds all errors.

import { nearest } from '../lib/nearest.js'
import type { CiVariable } from './config-types.js'
import { keyText, type Yaml, type YamlMapping } from './load-yaml.js'

/** Takes a path such as `jobs:rspec:artifacts`, and a problem that continues the sentence, such as `is empty`. */
export type Report = (path: string, problem: string) => void

export interface Section {
  readonly path: string
  readonly entries: YamlMapping
  readonly report: Report
  /** Reports something harmless, such as a key without an effect here. */
  readonly warn: Report
}

export const NAME_LIMIT = 255
/** The longest value of a variable, in bytes: the kernel starts no program with a variable of 128 KiB. */
const VALUE_LIMIT = 100_000

/** Shortens a text of a user for a message: one line of at most 64 characters. */
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
  if (value instanceof Map) return { ...section, path: pathOf(section, key), entries: value }
  reportAt(section, key, `should be a mapping, not ${kindOf(value)}`)
  return undefined
}

/** The alternatives for keys that this service does not support. */
const REMEDIES: { readonly [key: string]: string } = {
  secrets:
    ': keep the value in a variable of the project, or let the script fetch it from your store with a token of `id_tokens`'
}

/**
 * Reports every unknown key. `later` are keys of later versions of the format that would change what happens; `idle` are keys
 * that would change only what is shown.
 */
export function checkKeys(
  section: Section,
  known: readonly string[],
  later: readonly string[],
  idle: readonly string[] = []
): void {
  for (const key of section.entries.keys()) {
    const name = keyText(key)
    if (typeof key === 'string' && known.includes(name)) continue
    if (idle.includes(name)) {
      section.warn(section.path, `key \`${name}\` has no effect here`)
      continue
    }
    if (later.includes(name)) {
      section.report(section.path, `key \`${name}\` is not supported by this service${REMEDIES[name] ?? ''}`)
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
  // A reference to a list within a list, or an alias of one, results in nested lists.
  const entries = rules.single && typeof value === 'string' ? [value] : Array.isArray(value) ? value.flat(10) : value
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

interface Range {
  readonly least: number
  readonly most: number
}

/** A whole number; null when the key is absent. */
export function readNumber(section: Section, key: string, range: Range): number | null {
  const value = given(section, key)
  if (value === undefined) return null
  const number = wholeNumber(value, range)
  if (number === undefined) reportAt(section, key, `should be a number from ${range.least} to ${range.most}`)
  return number ?? null
}

/** A number, or a list of numbers; empty when the key is absent. */
export function readNumbers(section: Section, key: string, range: Range): number[] {
  const value = given(section, key)
  if (value === undefined) return []
  const numbers = (Array.isArray(value) ? value : [value]).map(entry => wholeNumber(entry, range))
  const known = numbers.filter(number => number !== undefined)
  if (known.length < numbers.length) {
    reportAt(section, key, `should be numbers from ${range.least} to ${range.most}`)
  }
  return [...new Set(known)]
}

function wholeNumber(value: Yaml, { least, most }: Range): number | undefined {
  if (typeof value !== 'object' || value === null || !('number' in value) || !/^\d{1,9}$/.test(value.number)) return
  const number = Number(value.number)
  return number >= least && number <= most ? number : undefined
}

/** A text or a list of texts, each one of `choices`; empty when the key is absent. */
export function readTexts(section: Section, key: string, choices: readonly string[]): string[] {
  const check = (text: string) => {
    if (choices.includes(text)) return undefined
    const hint = nearest(text, choices)
    return `is not known${hint === undefined ? '' : ` (did you mean \`${hint}\`?)`}`
  }
  return readList(section, key, { single: true, check }) ?? []
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
    const place = { ...section, path }
    const text = variableText(place, entry)
    const problem = text === undefined ? undefined : variableProblem(name, [text])
    if (problem) section.report(path, problem)
    return problem || text === undefined ? [] : [{ key: name, value: text, ...(isRaw(place, entry) && RAW) }]
  })
}

const RAW = { raw: true } as const

/** Whether a variable declares that its value is used as written. */
const isRaw = (section: Section, entry: Yaml): boolean =>
  entry instanceof Map && entry.has('expand') && !readFlag({ ...section, entries: entry }, 'expand')

/** The value of a variable as text; undefined after a report. A mapping has it in `value`, next to a description. */
function variableText(section: Section, entry: Yaml): string | undefined {
  if (entry instanceof Map) {
    checkKeys({ ...section, entries: entry }, ['value', 'description', 'options', 'expand'], [])
    return variableText(section, wordsOf(entry))
  }
  if (entry === null) return ''
  if (Array.isArray(entry) || (typeof entry === 'object' && !('number' in entry))) {
    section.report(section.path, `should be text, a number or a boolean, not ${kindOf(entry)}`)
    return undefined
  }
  return keyText(entry)
}

/** A mapping within a mapping is not a value. */
function wordsOf(entry: YamlMapping): Yaml {
  const value = entry.get('value') ?? null
  return value instanceof Map ? [] : value
}

/** The problem of a variable with one of these values; undefined when it has none. */
export function variableProblem(name: string, values: readonly string[]): string | undefined {
  if (!/^\w+$/.test(name)) return 'has a name that is not made of letters, digits and _'
  if (name.length > NAME_LIMIT) return `has a name longer than ${NAME_LIMIT} characters`
  if (values.some(value => Buffer.byteLength(value) > VALUE_LIMIT)) return `is longer than ${VALUE_LIMIT} bytes`
  return undefined
}

/** The kind of a value in words, for a message. */
export function kindOf(value: Yaml): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Map) return 'a mapping'
  if (typeof value === 'object' && 'reference' in value) return 'a reference'
  if (typeof value === 'string') return 'text'
  return typeof value === 'boolean' ? 'a boolean' : 'a number'
}

/** A hint for a message. In YAML, `- true` and `- echo a: b` are not texts, which surprises people. */
export function advice(value: Yaml): string {
  if (value === null || typeof value === 'string' || Array.isArray(value)) return ''
  return value instanceof Map ? '; text that contains `: ` needs quotes' : ': put it in quotes'
}
