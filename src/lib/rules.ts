// Rules for settings, as data with types derived from them. By hand, as a schema library costs every process, and every
// start of the command line, 100 ms and 20 MB.

export interface Rule<T> {
  /** What a value must be, behind "must be". */
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

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  rule<number>(
    maximum === Number.MAX_SAFE_INTEGER
      ? `a whole number from ${minimum}`
      : `a whole number from ${minimum} to ${maximum}`,
    value => Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
  )

export const number = (minimum: number) =>
  rule<number>(`a number from ${minimum}`, value => typeof value === 'number' && value >= minimum)

export const flag = rule<boolean>('true or false', value => typeof value === 'boolean')

export const text = (pattern = /./, expected = 'text') =>
  rule<string>(expected, value => typeof value === 'string' && pattern.test(value))

export const oneOf = <T extends string>(values: readonly T[]) =>
  rule<T>(`one of ${values.join(', ')}`, value => values.includes(value as T))

export const listOf = <T>(item: Rule<T>, minimum = 0) =>
  rule<readonly T[]>(
    `a list of ${item.expected}`,
    value => Array.isArray(value) && value.length >= minimum && value.every(item.fits)
  )

export const nullOr = <T>(inner: Rule<T>) =>
  rule<T | null>(`null or ${inner.expected}`, value => value === null || inner.fits(value))

const isRule = (node: Rule<unknown> | Shape): node is Rule<unknown> => typeof node.fits === 'function'

type Tree = { readonly [key: string]: unknown }

/** The first thing wrong with `tree`, with its path; null when it has the shape. Unknown keys are wrong, missing ones too. */
export function problemIn(tree: Tree, shape: Shape, path = ''): string | null {
  const foreign = Object.keys(tree).find(key => !Object.hasOwn(shape, key))
  if (foreign !== undefined) return `unknown key ${path}${foreign}`
  for (const [key, node] of Object.entries(shape)) {
    const value = tree[key]
    const problem = isRule(node)
      ? problemOf(value, node, path + key)
      : typeof value === 'object' && value !== null && !Array.isArray(value)
        ? problemIn(value as Tree, node, `${path}${key}.`)
        : `${path}${key} must hold keys (it is ${JSON.stringify(value)})`
    if (problem) return problem
  }
  return null
}

const problemOf = (value: unknown, { fits, expected }: Rule<unknown>, path: string) =>
  fits(value) ? null : `${path} must be ${expected} (it is ${JSON.stringify(value)})`
