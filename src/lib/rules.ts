// Rules for settings, as data from which the types are derived. They are written by hand, because a schema library
// costs every process, and every start of the command line, 100 ms and 20 MB.

export interface Rule<T> {
  /** What a value must be, as the text after "must be". */
  readonly expected: string
  fits(value: unknown): value is T
}

export interface Shape {
  readonly [key: string]: Rule<unknown> | Shape
}

export type ValuesOf<S> = {
  readonly [K in keyof S]: S[K] extends Rule<infer T> ? T : ValuesOf<S[K]>
}

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

const isRule = (node: Rule<unknown> | Shape): node is Rule<unknown> => typeof node.fits === 'function'

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
    if (isRule(node)) return node.fits(value) ? [] : [{ path, text: `${path} must be ${node.expected} ${itIs(value)}` }]
    if (isTree(value)) return problemsIn(value, node, `${path}.`)
    return [{ path, text: `${path} must contain keys ${itIs(value)}` }]
  })
  return [...foreign, ...wrong]
}

/** Returns the paths of all rules of a shape, in the order of the shape. */
export function pathsIn(shape: Shape, above = ''): string[] {
  return Object.entries(shape).flatMap(([key, node]) =>
    isRule(node) ? [above + key] : pathsIn(node, `${above}${key}.`)
  )
}

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value)

const itIs = (value: unknown) => `(it is ${withoutPasswords(JSON.stringify(value) ?? 'missing')})`

/** Replaces the passwords in the URLs of a text with `redacted`. */
export const withoutPasswords = (text: string) => text.replace(/(:\/\/[^\s:@/"]*):[^\s"]*@/g, '$1:redacted@')
