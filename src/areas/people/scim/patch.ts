// Changes of a resource by PATCH (RFC 7644, 3.5.2), in the forms in which Okta and Entra ID send them: names of operations in any
// case, booleans as text, and paths as the keys of a value. POST and PUT add their whole body to an empty resource, by the same code.
import { type Filter, filter as testOf } from 'scim2-parse-filter'
import { ScimFailure } from './failures.js'
import { parseFilter } from './filter.js'

/** A value of a list, such as an address or a member. */
export type Entry = { readonly [part: string]: unknown }

/** A resource while it changes. A list has its entries by their `value`: a group may have thousands of members. */
export interface Draft {
  readonly texts: Map<string, string>
  readonly flags: Map<string, boolean>
  readonly lists: Map<string, Map<string, Entry>>
}

/**
 * The attributes of a resource: lower case -> kind and name. `name.givenName` is a text of its own. Entries of a list keep only the
 * given parts.
 */
export interface Attributes {
  readonly texts: Readonly<Record<string, string>>
  readonly flags: Readonly<Record<string, string>>
  readonly lists: Readonly<
    Record<string, { readonly name: string; readonly parts: readonly string[]; readonly most: number }>
  >
  /** They change otherwise, or never. */
  readonly readOnly: readonly string[]
  /** Attributes that directories send and that nothing here needs. */
  readonly ignored: readonly string[]
}

export interface Operation {
  readonly op: string
  readonly path?: string
  readonly value?: unknown
}

export const emptyDraft = (): Draft => ({ texts: new Map(), flags: new Map(), lists: new Map() })

const LONGEST_TEXT = 255
/** Entries that the operations of one request compare or change. */
const MOST_STEPS = 1_000_000

type Verb = 'add' | 'replace' | 'remove'

interface Target {
  readonly name: string
  readonly filter?: Filter
  readonly part?: string
}

/** Applies operations in their order. Throws ScimFailure. */
export function applyOperations(draft: Draft, operations: readonly Operation[], attributes: Attributes): void {
  const change = new Change(draft, attributes)
  for (const { op, path, value } of operations) {
    const verb = op.toLowerCase()
    if (verb !== 'add' && verb !== 'replace' && verb !== 'remove') {
      throw new ScimFailure('invalidSyntax', 'an operation is add, replace or remove')
    }
    if (path !== undefined && path !== '') change.at(verb, targetOf(path), unwrapped(value))
    else change.whole(verb, value)
  }
}

/** Adds a whole resource, as a body has it. */
export const addWhole = (draft: Draft, body: unknown, attributes: Attributes): void =>
  applyOperations(draft, [{ op: 'add', value: body }], attributes)

const PATH = /^([a-z$][\w$-]*)(?:\[(.*)\])?(?:\.([a-z$][\w$-]*))?$/i
const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group)(?::|$)/i
const EXTENSION = /^urn:/i

function targetOf(path: string): Target {
  if (path.length > 2048) throw new ScimFailure('invalidPath', 'a path has at most 2048 characters')
  const plain = path.replace(CORE, '')
  if (EXTENSION.test(plain)) return { name: EXTENDED }
  const [, name = '', filter, part] = PATH.exec(plain) ?? []
  if (name === '') throw new ScimFailure('invalidPath', 'the path cannot be parsed')
  return {
    name: name.toLowerCase(),
    ...(filter !== undefined && { filter: parseFilter(filter) }),
    ...(part !== undefined && { part: part.toLowerCase() })
  }
}

/** The attribute of every schema that is not one of ours. */
const EXTENDED = 'urn'

/** Entra ID wraps single values: `[{ "value": "x" }]`. */
function unwrapped(value: unknown): unknown {
  const only = Array.isArray(value) && value.length === 1 ? (value[0] as Entry | null) : undefined
  return only && typeof only === 'object' && Object.keys(only).every(key => key === 'value' || key === '$ref')
    ? new Wrapped(value as unknown[], only.value)
    : value
}

/** A value that is a list with one entry, or only the value of this entry. */
class Wrapped {
  constructor(
    readonly list: readonly unknown[],
    readonly value: unknown
  ) {}
}

class Change {
  private steps = 0

  constructor(
    private readonly draft: Draft,
    private readonly attributes: Attributes
  ) {}

  /** A value without a path has attributes, or paths, as its keys. What we do not know there is ignored. */
  whole(verb: Verb, value: unknown, isOutside = true): void {
    if (verb === 'remove') throw new ScimFailure('noTarget', 'remove needs a path')
    if (!isEntry(value)) throw new ScimFailure('invalidSyntax', 'a value without a path must have attributes')
    for (const [key, part] of Object.entries(value)) {
      // Not deeper: a body may have thousands of levels.
      if (isOutside && CORE.test(key) && isEntry(part)) this.whole(verb, part, false)
      else if (this.isKnown(key)) this.at(verb, targetOf(key), unwrapped(part))
    }
  }

  private isKnown(key: string): boolean {
    const { texts, flags, lists } = this.attributes
    const [name = ''] = key.replace(CORE, '').toLowerCase().split(/[.[]/, 1)
    return [texts, flags, lists].some(some =>
      Object.keys(some).some(known => known === name || known.startsWith(`${name}.`))
    )
  }

  at(verb: Verb, target: Target, value: unknown): void {
    const { texts, flags, lists, readOnly, ignored } = this.attributes
    const { name, part } = target
    if (name === EXTENDED || ignored.includes(name)) return
    if (readOnly.includes(name)) throw new ScimFailure('mutability', `${name} cannot be changed`)
    const whole = part === undefined ? name : `${name}.${part}`
    const inner = Object.keys(texts).filter(one => one.startsWith(`${name}.`))
    if (Object.hasOwn(lists, name)) this.list(verb, target, value)
    else if (target.filter) throw new ScimFailure('invalidPath', `${name} is not a list`)
    else if (Object.hasOwn(texts, whole)) this.text(verb, whole, plain(value))
    else if (Object.hasOwn(flags, whole)) this.flag(verb, whole, plain(value))
    else if (part === undefined && inner.length > 0) this.complex(verb, inner, value)
    else if (inner.length === 0) {
      throw new ScimFailure('invalidPath', 'the path names no attribute')
    }
  }

  private text(verb: Verb, key: string, value: unknown): void {
    const { texts } = this.draft
    if (verb === 'remove' || value === null || value === undefined || value === '') return void texts.delete(key)
    if (typeof value !== 'string') throw new ScimFailure('invalidValue', `${this.attributes.texts[key]} must be a text`)
    texts.set(key, checked(value, this.attributes.texts[key] ?? key))
  }

  private flag(verb: Verb, key: string, value: unknown): void {
    const { flags } = this.draft
    if (verb === 'remove' || value === null || value === undefined) return void flags.delete(key)
    const text = String(value).toLowerCase()
    if (text !== 'true' && text !== 'false') {
      throw new ScimFailure('invalidValue', `${this.attributes.flags[key]} must be true or false`)
    }
    flags.set(key, text === 'true')
  }

  /** A value such as `name`, whose parts are texts. */
  private complex(verb: Verb, keys: readonly string[], value: unknown): void {
    if (verb === 'remove' || value === null) {
      for (const key of keys) this.draft.texts.delete(key)
      return
    }
    if (!isEntry(value)) throw new ScimFailure('invalidValue', 'the value must have attributes')
    const parts = new Map(Object.entries(value).map(([name, part]) => [name.toLowerCase(), part]))
    for (const key of keys) {
      const name = key.slice(key.indexOf('.') + 1)
      if (parts.has(name)) this.text(verb, key, parts.get(name))
    }
  }

  private list(verb: Verb, { name, filter, part }: Target, value: unknown): void {
    const { lists } = this.draft
    const entries = lists.get(name) ?? new Map<string, Entry>()
    if (filter) this.matching(verb, entries, { name, filter, part, value: plain(value) })
    else if (part !== undefined) {
      if (verb === 'remove') throw new ScimFailure('invalidPath', `a part of ${name} cannot be removed`)
      this.rewrite(entries, [...entries.keys()], name, { [part]: plain(value) })
    } else this.entries(verb, entries, name, value)
    if (entries.size > this.most(name))
      throw new ScimFailure('tooMany', `${name} has at most ${this.most(name)} entries`)
    lists.set(name, entries)
  }

  private most = (name: string): number => this.attributes.lists[name]?.most ?? 0

  private entries(verb: Verb, entries: Map<string, Entry>, name: string, value: unknown): void {
    const given = value === undefined || value === null ? [] : [value instanceof Wrapped ? value.list : value].flat()
    if (given.length > this.most(name))
      throw new ScimFailure('tooMany', `${name} has at most ${this.most(name)} entries`)
    // Without a value, remove empties the list; otherwise Okta and Entra ID name the entries to remove.
    if (verb === 'replace' || (verb === 'remove' && given.length === 0)) entries.clear()
    for (const one of given) {
      const entry = this.entryOf(name, one)
      if (verb === 'remove') entries.delete(String(entry.value))
      else entries.set(String(entry.value), { ...entries.get(String(entry.value)), ...entry })
    }
  }

  private matching(
    verb: Verb,
    entries: Map<string, Entry>,
    { name, filter, part, value }: { name: string; filter: Filter; part: string | undefined; value: unknown }
  ): void {
    const found = this.find(entries, filter)
    if (verb === 'remove' && part === undefined) for (const key of found) entries.delete(key)
    if (verb === 'remove') return
    const change = part === undefined ? (isEntry(value) ? value : { value }) : { [part]: value }
    this.rewrite(entries, found, name, change)
    if (found.length > 0) return
    // Entra ID changes `emails[type eq "work"].value` of a user without such an address.
    if (filter.op !== 'eq' || filter.attrPath.toLowerCase() === 'value') {
      throw new ScimFailure('noTarget', `no entry of ${name} matches the filter`)
    }
    const entry = this.entryOf(name, { [filter.attrPath]: filter.compValue, ...change })
    entries.set(String(entry.value), entry)
  }

  private find(entries: ReadonlyMap<string, Entry>, filter: Filter): string[] {
    if (filter.op === 'eq' && filter.attrPath.toLowerCase() === 'value') {
      const key = String(filter.compValue)
      return entries.has(key) ? [key] : []
    }
    this.count(entries.size)
    const fits = testOf(filter)
    return [...entries].flatMap(([key, entry]) => (fits(entry) ? [key] : []))
  }

  private count(entries: number): void {
    this.steps += entries
    if (this.steps > MOST_STEPS) throw new ScimFailure('tooMany', 'the operations compare or change too many entries')
  }

  private rewrite(entries: Map<string, Entry>, keys: readonly string[], name: string, change: Entry): void {
    this.count(keys.length)
    for (const key of keys) {
      const entry = this.entryOf(name, { ...entries.get(key), ...change })
      entries.delete(key)
      entries.set(String(entry.value), entry)
    }
  }

  /** An entry may be only its value. */
  private entryOf(name: string, given: unknown): Entry {
    const parts = isEntry(given) ? given : { value: given }
    const known = this.attributes.lists[name]?.parts ?? []
    const kept = Object.entries(parts).flatMap(([key, value]) => {
      const part = key.toLowerCase()
      return known.includes(part) && value !== null
        ? [[part, typeof value === 'string' ? checked(value, name) : value]]
        : []
    })
    const entry = Object.fromEntries(kept) as Entry
    const { value } = entry
    if (typeof value === 'number') return { ...entry, value: String(value) }
    if (typeof value !== 'string' || value === '')
      throw new ScimFailure('invalidValue', `an entry of ${name} needs a value`)
    return entry
  }
}

const plain = (value: unknown): unknown => (value instanceof Wrapped ? value.value : value)

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Wrapped)

function checked(text: string, name: string): string {
  if (text.length > LONGEST_TEXT) {
    throw new ScimFailure('invalidValue', `${name} is too long (maximum is ${LONGEST_TEXT} characters)`)
  }
  if (/\p{Cc}/u.test(text)) throw new ScimFailure('invalidValue', `${name} must be one line`)
  return text
}
