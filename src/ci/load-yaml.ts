// Loads YAML 1.1 as plain values, from text that anybody may send. It does not use the parser's own `toJS`: the cost of that is
// not bounded by the length of the text (aliases, merges), and its linear search for duplicate keys takes minutes for a mapping
// of 1 MiB.
import { createRequire } from 'node:module'
import type {
  Document,
  DocumentOptions,
  LineCounter,
  ParsedNode,
  ParseOptions,
  Scalar,
  ScalarTag,
  SchemaOptions,
  Tags,
  YAMLMap
} from 'yaml'

// Loaded with the first text: its 72 files take as long as many requests, and 8 MB.
let loaded: typeof import('yaml') | undefined
function yaml(): typeof import('yaml') {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof import('yaml')
  return loaded
}

/** A number keeps its text as written, so that `VERSION: 1.10` does not become 1.1. */
interface YamlNumber {
  readonly number: string
}
/** The tag `!reference`: the keys that lead from the root to the value that replaces it. */
export interface YamlReference {
  readonly reference: readonly string[]
}
export type YamlKey = string | boolean | null | YamlNumber
export type YamlMapping = Map<YamlKey, Yaml>
export type Yaml = YamlKey | Yaml[] | YamlMapping | YamlReference

export type LoadedYaml =
  | { readonly value: Yaml; readonly errors: readonly [] }
  | { readonly value: null; readonly errors: readonly string[] }

export const TEXT_LIMIT = 1024 * 1024
/** Characters of the whole document after its aliases are expanded; each node counts as 16 more. */
export const EXPANDED_LIMIT = 4 * 1024 * 1024
// The slowest known text of this many tokens takes the parser 0.5 s. Deep nesting would overflow its stack only much
// later than depthLimit.
const TOKEN_LIMIT = 200_000
const DEPTH_LIMIT = 64
const NODE_WEIGHT = 16

/** The text cannot be loaded; `position` is an offset in the text. */
class Unreadable extends Error {
  constructor(
    message: string,
    readonly position?: number
  ) {
    super(message)
  }
}

/** Loads one YAML document. It never throws because of the text; each error begins with `yaml`. */
export function loadYaml(text: string): LoadedYaml {
  if (Buffer.byteLength(text) > TEXT_LIMIT) return refuse(`is larger than ${TEXT_LIMIT} bytes`)
  const lines = new (yaml().LineCounter)()
  try {
    const document = compose(text, lines)
    const first = document.errors[0] ?? document.warnings[0]
    if (first) throw new Unreadable(`is not valid: ${first.message.slice(0, 200)}`, first.pos[0])
    return { value: convert(document.contents, { anchors: new Map(), left: EXPANDED_LIMIT }), errors: [] }
  } catch (error) {
    if (error instanceof Unreadable) return refuse(error.message + place(lines, error.position))
    // Apart from Unreadable, a text can only make the parser's recursion fail.
    if (error instanceof RangeError) return refuse('is nested too deeply')
    throw error
  }
}

const refuse = (problem: string): LoadedYaml => ({ value: null, errors: [`yaml ${problem}`] })

function place(lines: LineCounter, position: number | undefined): string {
  if (position === undefined) return ''
  const { line, col } = lines.linePos(position)
  return ` (line ${line}, column ${col})`
}

/**
 * Counts commas, anchors, tags and directives that follow each other with only space between. The parser makes an error for each
 * of them; 200,000 errors take two seconds.
 */
function countStrays(before: number, lexeme: string): number {
  if (lexeme.trim() === '') return before
  return ',&!%'.includes(lexeme.charAt(0)) ? before + 1 : 0
}

/** Returns the document tree. It feeds the parser step by step, to stop early: at a depth, at a size, and at the first error. */
function compose(text: string, lines: LineCounter): Document.Parsed {
  const parser = new (yaml().Parser)(lines.addNewLine)
  lines.addNewLine(0)
  const composer = new (yaml().Composer)(options)
  const documents: Document.Parsed[] = []
  const take = (tokens: Iterable<Parameters<typeof composer.next>[0]>) => {
    for (const token of tokens) {
      if (token.type === 'error') throw new Unreadable(`is not valid: ${token.message.slice(0, 200)}`, token.offset)
      documents.push(...composer.next(token))
    }
    if (documents.length > 1) throw new Unreadable('should contain one document')
  }
  let count = 0
  let strays = 0
  for (const lexeme of new (yaml().Lexer)().lex(text)) {
    strays = countStrays(strays, lexeme)
    if (strays > 4) throw new Unreadable(`is not valid: stray \`${lexeme[0]}\``, parser.offset)
    if (++count > TOKEN_LIMIT) throw new Unreadable(`is too long: it has more than ${TOKEN_LIMIT} tokens`)
    take(parser.next(lexeme))
    if (parser.stack.length > DEPTH_LIMIT) throw new Unreadable('is nested too deeply', parser.offset)
  }
  take(parser.end())
  documents.push(...composer.end(true, text.length))
  const [document] = documents
  if (!document || documents.length > 1) throw new Unreadable('should contain one document')
  return document
}

// These parts of YAML 1.1 are not supported: dates, numbers to base 60 (people do not expect that `12:30` is 750), binary, sets
// and ordered maps. `y` and `n` are texts, as in the parsers of the time of API v3. Merge keys are handled below.
const narrowBooleans = new Map([
  [true, /^(?:[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/],
  [false, /^(?:[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/]
])
const DROPPED = /:(timestamp|binary|set|omap|pairs|merge)$/

const REFERENCE = '!reference'

function chooseTags(tags: Tags): Tags {
  const chosen: Tags = tags.flatMap(tag => {
    if (typeof tag === 'string' || DROPPED.test(tag.tag) || ('format' in tag && tag.format === 'TIME')) return []
    if (tag.tag.endsWith(':bool') && 'test' in tag && tag.test)
      tag = { ...tag, test: narrowBooleans.get(tag.test.test('true')) } as ScalarTag
    return [tag]
  })
  return [...chosen, { tag: REFERENCE, collection: 'seq', identify: () => false }]
}

const options: ParseOptions & DocumentOptions & SchemaOptions = {
  version: '1.1',
  merge: false,
  uniqueKeys: false,
  customTags: chooseTags
}

interface Context {
  readonly anchors: Map<string, { readonly value: Yaml; readonly weight: number }>
  /** How much of expandedLimit is left. */
  left: number
}

function spend(context: Context, weight: number): void {
  context.left -= weight
  if (context.left < 0) throw new Unreadable('is too large once its aliases are expanded')
}

function convert(node: ParsedNode | null, context: Context): Yaml {
  if (node === null) return null
  if (yaml().isAlias(node)) {
    const target = context.anchors.get(node.source)
    if (!target) throw new Unreadable(`has an alias of an unknown anchor: ${node.source.slice(0, 64)}`, node.range[0])
    spend(context, target.weight)
    return target.value
  }
  const before = context.left
  spend(context, NODE_WEIGHT)
  const value = convertContent(node, context)
  if (node.anchor) context.anchors.set(node.anchor, { value, weight: before - context.left })
  return value
}

function convertContent(node: ParsedNode, context: Context): Yaml {
  if (yaml().isScalar(node)) return scalar(node, context)
  if (yaml().isSeq(node)) {
    const items = node.items.map(item => convert(item as ParsedNode | null, context))
    return node.tag === REFERENCE ? referenceOf(items, node.range[0]) : items
  }
  if (yaml().isMap(node)) return mapping(node as YAMLMap<ParsedNode, ParsedNode | null>, context)
  throw new Unreadable('contains an unknown kind of node')
}

function referenceOf(items: readonly Yaml[], position: number): YamlReference {
  const reference = items.filter(item => typeof item === 'string')
  if (reference.length === items.length && items.length > 0) return { reference }
  throw new Unreadable('has a `!reference` that is not a list of names', position)
}

/** Whether a value is a reference to another value. */
export const isReference = (value: Yaml): value is YamlReference =>
  typeof value === 'object' && value !== null && 'reference' in value

function scalar(node: Scalar, context: Context): YamlKey {
  const { value } = node
  if (typeof value === 'number') return { number: node.source ?? String(value) }
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'string') throw new Unreadable('contains an unknown kind of value', node.range?.[0])
  if (value.includes('\0')) throw new Unreadable('contains a NUL character', node.range?.[0])
  spend(context, value.length)
  return value
}

function mapping(node: YAMLMap<ParsedNode, ParsedNode | null>, context: Context): YamlMapping {
  const own: YamlMapping = new Map()
  const merged: YamlMapping[] = []
  const seen = new Set<string>()
  for (const { key, value } of node.items) {
    if (yaml().isScalar(key) && key.value === '<<' && key.type === yaml().Scalar.PLAIN) {
      merged.push(...mergeSources(convert(value, context), key.range[0]))
      continue
    }
    const name = convert(key, context)
    if (Array.isArray(name) || name instanceof Map || isReference(name))
      throw new Unreadable('has a key that is not text', key?.range?.[0])
    const text = keyText(name)
    if (seen.has(text)) throw new Unreadable(`has the key \`${text.slice(0, 64)}\` twice`, key?.range?.[0])
    seen.add(text)
    own.set(name, convert(value, context))
  }
  return merged.length === 0 ? own : overlay(own, merged)
}

function mergeSources(value: Yaml, position: number): YamlMapping[] {
  const sources = Array.isArray(value) ? value : [value]
  return sources.map(source => {
    if (source instanceof Map) return source
    throw new Unreadable('has a merge key `<<` whose value is not a mapping or a list of mappings', position)
  })
}

/** A mapping with merged ones below it. Its own keys win, at any position; of several merged mappings, the first wins. */
function overlay(own: YamlMapping, merged: YamlMapping[]): YamlMapping {
  const result: YamlMapping = new Map(own)
  for (const source of merged) {
    for (const [key, value] of source) if (!result.has(key)) result.set(key, value)
  }
  return result
}

/** The text of a key, for a message or as the name of a variable. */
export function keyText(key: YamlKey): string {
  if (typeof key === 'object' && key !== null) return key.number
  return String(key)
}
