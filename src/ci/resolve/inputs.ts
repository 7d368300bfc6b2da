// Inputs of a file: its header, a separate document, declares them (`spec: inputs`), and `$[[ inputs.name ]]` stands for their
// values in the rest. They are put into the loaded values, so that no input can change the structure of the file.
import {
  checkKeys,
  given,
  kindOf,
  pathOf,
  printable,
  type Report,
  readChoice,
  readSection,
  readText,
  reportAt,
  type Section
} from '../config-values.js'
import {
  EXPANDED_LIMIT,
  keyText,
  type LoadedYaml,
  loadYaml,
  type Yaml,
  type YamlKey,
  type YamlMapping
} from '../load-yaml.js'
import { compilePattern, matches, type Pattern, PatternError } from '../pattern.js'

const MOST_INPUTS = 100
const MOST_OPTIONS = 50
const TYPES = ['string', 'number', 'boolean', 'array'] as const
const NODE_WEIGHT = 16

type Type = (typeof TYPES)[number]

interface Input {
  readonly type: Type
  /** Undefined: the including file must set a value. */
  readonly fallback: Yaml | undefined
  readonly options: readonly string[] | null
  readonly pattern: Pattern | null
}

/** Loads a file with its inputs; null when the file cannot get any. Each error is `<path> <problem>`. */
export function loadFile(text: string, values: YamlMapping | null): LoadedYaml {
  const parts = splitHeader(text)
  if (!parts)
    return values && values.size > 0 ? refuse(['inputs are given to a file without `spec: inputs`']) : loadYaml(text)
  const header = loadYaml(parts.header)
  if (header.errors.length > 0) return header
  if (!(header.value instanceof Map)) return refuse(['spec should be a mapping'])
  const errors: string[] = []
  const report: Report = (path, problem) => errors.push(`${path} ${problem}`)
  const inputs = readHeader(header.value, report)
  const chosen = chooseValues(inputs, values ?? new Map(), report)
  if (errors.length > 0) return refuse(errors)
  const body = loadYaml(parts.body)
  if (body.errors.length > 0) return body
  return filled(body.value, chosen)
}

const refuse = (errors: readonly string[]): LoadedYaml => ({ value: null, errors })

/**
 * Splits a file with a header into its two documents. Lines of the second keep their numbers. A marker at the start of a line ends
 * a document anywhere.
 */
function splitHeader(text: string): { readonly header: string; readonly body: string } | undefined {
  const lines = text.split('\n')
  const first = lines.findIndex(line => line.trim() !== '' && !/^(#|---\s*$|%)/.test(line))
  if (first < 0 || !/^spec\s*:/.test(lines[first] ?? '')) return undefined
  const end = lines.findIndex((line, at) => at > first && /^---\s*$/.test(line))
  if (end < 0) return undefined
  return { header: lines.slice(0, end).join('\n'), body: '\n'.repeat(end + 1) + lines.slice(end + 1).join('\n') }
}

function readHeader(entries: YamlMapping, report: Report): Map<string, Input> {
  const root: Section = { path: '', entries, report, warn: () => undefined }
  checkKeys(root, ['spec'], [])
  const spec = readSection(root, 'spec')
  if (spec) checkKeys(spec, ['inputs'], ['include', 'component'])
  const declared = spec && readSection(spec, 'inputs')
  const found = [...(declared?.entries ?? [])]
  if (declared && found.length > MOST_INPUTS) reportAt(declared, '', `are more than ${MOST_INPUTS}`)
  return new Map(
    found.slice(0, MOST_INPUTS).map(([key, value]) => {
      const name = keyText(key)
      const path = `spec:inputs:${printable(name)}`
      if (!/^[\w-]{1,100}$/.test(name)) report(path, 'has a name that is not made of letters, digits, _ and -')
      if (value !== null && !(value instanceof Map)) report(path, `should be a mapping, not ${kindOf(value)}`)
      return [name, readInput({ ...root, path, entries: value instanceof Map ? value : new Map() })]
    })
  )
}

function readInput(section: Section): Input {
  checkKeys(section, ['default', 'description', 'options', 'regex', 'type'], ['rules'])
  const type = readChoice(section, 'type', TYPES, 'string')
  const options = given(section, 'options')
  if (options !== undefined && (!Array.isArray(options) || options.length > MOST_OPTIONS)) {
    reportAt(section, 'options', `should be a list of at most ${MOST_OPTIONS} values`)
  }
  const input = {
    type,
    options: Array.isArray(options) ? options.map(plainText) : null,
    pattern: readPattern(section)
  }
  const fallback = section.entries.has('default') ? (section.entries.get('default') ?? '') : undefined
  const problem = fallback === undefined ? undefined : problemOf(fallback, input)
  if (problem) reportAt(section, 'default', problem)
  return { ...input, fallback }
}

function readPattern(section: Section): Pattern | null {
  const text = readText(section, 'regex', 255)
  if (text === null) return null
  try {
    return compilePattern(/^\/(.+)\/$/s.exec(text)?.[1] ?? text)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    section.report(pathOf(section, 'regex'), error.message)
    return null
  }
}

/** The text of a scalar value; a list has no text. */
function plainText(value: Yaml): string {
  if (Array.isArray(value) || value instanceof Map) return ''
  return typeof value === 'object' && value !== null && 'reference' in value ? '' : keyText(value)
}

const TYPE_OF = {
  string: (value: Yaml) => typeof value === 'string',
  number: (value: Yaml) => typeof value === 'object' && value !== null && 'number' in value,
  boolean: (value: Yaml) => typeof value === 'boolean',
  array: (value: Yaml) => Array.isArray(value)
}

/** The problem of a value. A message does not show the value itself, because it may come from a variable. */
function problemOf(value: Yaml, { type, options, pattern }: Omit<Input, 'fallback'>): string | undefined {
  if (!TYPE_OF[type](value)) return `should be of the type ${type}, not ${kindOf(value)}`
  const text = plainText(value)
  if (options && !options.includes(text)) return `should be one of ${options.map(printable).join(', ')}`
  if (pattern && !matches(pattern, text)) return 'does not match its `regex`'
  return undefined
}

function chooseValues(inputs: ReadonlyMap<string, Input>, values: YamlMapping, report: Report): Map<string, Yaml> {
  const chosen = new Map<string, Yaml>()
  for (const key of values.keys()) {
    if (!inputs.has(keyText(key))) report('inputs', `has no \`${printable(keyText(key))}\``)
  }
  for (const [name, input] of inputs) {
    const value = values.get(name) ?? undefined
    const problem = value === undefined ? undefined : problemOf(value, input)
    if (problem) report(`inputs:${printable(name)}`, problem)
    else if (value !== undefined) chosen.set(name, value)
    else if (input.fallback !== undefined) chosen.set(name, input.fallback)
    else report(`inputs:${printable(name)}`, 'is missing')
  }
  return chosen
}

const PLACE = /\$\[\[([^\]]*)\]\]/g
const NAME = /^\s*inputs\.([\w-]+)\s*$/

/** The values take more space than a file may have. */
class TooLarge extends Error {}

interface Filling {
  readonly values: ReadonlyMap<string, Yaml>
  readonly errors: Set<string>
  /** Lists and mappings that are already filled: aliases share them. */
  readonly done: Map<Yaml, Yaml>
  left: number
}

function filled(value: Yaml, values: ReadonlyMap<string, Yaml>): LoadedYaml {
  const filling: Filling = { values, errors: new Set(), done: new Map(), left: EXPANDED_LIMIT }
  try {
    const result = fill(filling, value)
    return filling.errors.size > 0 ? refuse([...filling.errors].slice(0, 50)) : { value: result, errors: [] }
  } catch (error) {
    if (error instanceof TooLarge) return refuse(['inputs make the file too large'])
    throw error
  }
}

function fill(filling: Filling, value: Yaml): Yaml {
  if (typeof value === 'string') return fillText(filling, value)
  if (!Array.isArray(value) && !(value instanceof Map)) return value
  const known = filling.done.get(value)
  if (known !== undefined) return known
  spend(filling, NODE_WEIGHT)
  const result = Array.isArray(value) ? value.map(entry => fill(filling, entry)) : fillMapping(filling, value)
  filling.done.set(value, result)
  return result
}

function fillMapping(filling: Filling, mapping: YamlMapping): YamlMapping {
  const result: YamlMapping = new Map()
  for (const [key, value] of mapping) {
    const name = typeof key === 'string' ? fillText(filling, key) : key
    if (isKey(name)) result.set(name, fill(filling, value))
    else filling.errors.add('inputs in a key should be text')
  }
  return result
}

const isKey = (value: Yaml): value is YamlKey =>
  !Array.isArray(value) &&
  !(value instanceof Map) &&
  !(typeof value === 'object' && value !== null && 'reference' in value)

/** An input that is the whole text keeps its type; within a text, its value becomes part of the text. */
function fillText(filling: Filling, text: string): Yaml {
  if (!text.includes('$[[')) return text
  const [whole, inner = ''] = /^\$\[\[([^\]]*)\]\]$/.exec(text) ?? []
  if (whole !== undefined) {
    const value = valueAt(filling, inner)
    spend(filling, weightOf(value))
    return value
  }
  return text.replace(PLACE, (_, place: string) => {
    const value = valueAt(filling, place)
    if (!isKey(value)) filling.errors.add(`inputs within a text cannot be ${kindOf(value)}`)
    const part = plainText(value)
    spend(filling, part.length)
    return part
  })
}

function valueAt({ values, errors }: Filling, place: string): Yaml {
  const name = NAME.exec(place)?.[1]
  const value = name === undefined ? undefined : values.get(name)
  if (value !== undefined) return value
  if (name !== undefined) errors.add(`inputs has no \`${printable(name)}\``)
  else if (place.includes('|'))
    errors.add(`inputs: functions such as \`${printable(place.trim())}\` are not supported by this service`)
  else errors.add(`inputs: \`${printable(place.trim())}\` should be \`inputs.NAME\``)
  return ''
}

/** Values may be nested lists; the loader has limited their depth. */
function weightOf(value: Yaml): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + weightOf(entry), NODE_WEIGHT)
  if (value instanceof Map)
    return [...value.values()].reduce<number>((sum, entry) => sum + weightOf(entry), NODE_WEIGHT)
  return NODE_WEIGHT + plainText(value).length
}

function spend(filling: Filling, weight: number): void {
  filling.left -= weight
  if (filling.left < 0) throw new TooLarge()
}
