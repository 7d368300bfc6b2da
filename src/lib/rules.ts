// Rules for settings, as data from which the types are derived. They are written by hand, because a schema library
// costs every process, and every start of the command line, 100 ms and 20 MB.

export interface Rule<T> {
  /** What a value must be, as the text after "must be". */
  readonly expected: string
  fits(value: unknown): value is T
}

export interface Shape {
  readonly [key: string]: Rule<unknown> | Entries<Shape> | Shape
}

export type ValuesOf<S> = {
  readonly [K in keyof S]: S[K] extends Rule<infer T>
    ? T
    : S[K] extends Entries<infer E>
      ? { readonly [name: string]: ValuesOf<E> }
      : ValuesOf<S[K]>
}

/** Keys that an operator names, each with an entry of the same shape. */
export class Entries<S extends Shape> {
  /** An entry may omit the keys of `defaults`. */
  constructor(
    readonly shape: S,
    readonly defaults: Tree
  ) {}
}

/** The names of entries appear in paths of URLs and in the database. */
const ENTRY_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

const rule = <T>(expected: string, fits: (value: unknown) => boolean): Rule<T> => ({
  expected,
  fits: (value): value is T => fits(value)
})

/** A whole number between the two bounds, including both. */
export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  rule<number>(
    maximum === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${minimum}`
      : `a whole number from ${minimum} to ${maximum}`,
    value => Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
  )

/** A number between the two bounds, including both. */
export const number = (minimum: number, maximum = Number.MAX_VALUE) =>
  rule<number>(
    maximum === Number.MAX_VALUE ? `a number from ${minimum}` : `a number from ${minimum} to ${maximum}`,
    value => typeof value === 'number' && value >= minimum && value <= maximum
  )

/** True or false. */
export const flag = rule<boolean>('true or false', value => typeof value === 'boolean')

/** A text that matches `pattern`. `expected` describes it in the message. */
export const text = (pattern = /./, expected = 'text') =>
  rule<string>(expected, value => typeof value === 'string' && pattern.test(value))

/** One of the given texts. */
export const oneOf = <T extends string>(values: readonly T[]) =>
  rule<T>(`one of ${values.join(', ')}`, value => values.includes(value as T))

/** A list with at least `minimum` items, each of which fits `item`. */
export const listOf = <T>(item: Rule<T>, minimum = 0) =>
  rule<readonly T[]>(
    `a list of ${item.expected}`,
    value => Array.isArray(value) && value.length >= minimum && value.every(item.fits)
  )

/** Null, or a value that fits `inner`. */
export const nullOr = <T>(inner: Rule<T>) =>
  rule<T | null>(`null or ${inner.expected}`, value => value === null || inner.fits(value))

const isRule = (node: Shape[string]): node is Rule<unknown> => 'fits' in node && typeof node.fits === 'function'

type Tree = { readonly [key: string]: unknown }

export interface Problem {
  /** For example `git.timeout`. */
  readonly path: string
  /** One line that begins with the problem and contains the path. */
  readonly text: string
}

/** Returns all problems in `tree`; the list is empty when the tree has the shape. Unknown and missing keys are problems. */
export function problemsIn(tree: Tree, shape: Shape, above = ''): Problem[] {
  const foreign = Object.keys(tree)
    .filter(key => !Object.hasOwn(shape, key))
    .map(key => ({ path: above + key, text: `unknown key ${above}${key}` }))
  const wrong = Object.entries(shape).flatMap(([key, node]) => {
    const path = above + key
    const value = tree[key]
    if (isRule(node))
      return node.fits(value) ? [] : [{ path, text: `${path} must be ${node.expected} ${itIs(value, path)}` }]
    if (isTree(value)) {
      return node instanceof Entries ? problemsOfEntries(value, node, path) : problemsIn(value, node, `${path}.`)
    }
    return [{ path, text: `${path} must contain keys ${itIs(value)}` }]
  })
  return [...foreign, ...wrong]
}

function problemsOfEntries(tree: Tree, { shape }: Entries<Shape>, above: string): Problem[] {
  return Object.entries(tree).flatMap(([name, entry]) => {
    const path = `${above}.${name}`
    if (!ENTRY_NAME.test(name)) {
      return [{ path, text: `${path} must have a name of lower-case letters, digits, - and _, at most 64` }]
    }
    return isTree(entry)
      ? problemsIn(entry, shape, `${path}.`)
      : [{ path, text: `${path} must contain keys ${itIs(entry)}` }]
  })
}

/** Returns the tree with the defaults of its entries. */
export function withEntryDefaults(tree: Tree, shape: Shape): Tree {
  const whole = Object.entries(tree).map(([key, value]) => {
    const node = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (node === undefined || isRule(node) || !isTree(value)) return [key, value]
    if (!(node instanceof Entries)) return [key, withEntryDefaults(value, node)]
    const entries = Object.entries(value)
    return [key, Object.fromEntries(entries.map(([name, entry]) => [name, filled(entry, node)]))]
  })
  return Object.fromEntries(whole) as Tree
}

const filled = (entry: unknown, { shape, defaults }: Entries<Shape>): unknown =>
  isTree(entry) ? withEntryDefaults(over(defaults, entry), shape) : entry

/** Sections of an entry keep the defaults of the keys that it omits. */
function over(defaults: Tree, entry: Tree): Tree {
  const both = Object.entries(entry).map(([key, value]) => {
    const below = Object.hasOwn(defaults, key) ? defaults[key] : undefined
    return [key, isTree(below) && isTree(value) ? over(below, value) : value]
  })
  return { ...defaults, ...Object.fromEntries(both) }
}

/** Returns the paths of all rules of a shape, in the order of the shape. Entries are one path. */
export function pathsIn(shape: Shape, above = ''): string[] {
  return Object.entries(shape).flatMap(([key, node]) =>
    isRule(node) || node instanceof Entries ? [above + key] : pathsIn(node, `${above}${key}.`)
  )
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a key holds a secret, which no message may show: a password of digits only is a number in YAML. */
export const isSecret = (path: string): boolean => /(^|[._])(secret_access_key|password|client_secret)$/.test(path)

const itIs = (value: unknown, path = '') =>
  isSecret(path) && value !== undefined && value !== null
    ? '(it is something else)'
    : `(it is ${withoutPasswords(JSON.stringify(value) ?? 'missing')})`

/** Replaces the passwords in the URLs of a text with `redacted`. */
export const withoutPasswords = (text: string) => text.replace(/(:\/\/[^\s:@/"]*):[^\s"]*@/g, '$1:redacted@')
