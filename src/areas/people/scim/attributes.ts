// The parameters `attributes` and `excludedAttributes` (RFC 7644, 3.9), which choose what an answer contains.
import { attributeName } from './filter.js'

export interface Chosen {
  readonly attributes?: string
  readonly excludedAttributes?: string
}

const LONGEST_LIST = 100
/** What every answer contains (RFC 7643, "returned": "always"). */
const ALWAYS = ['id', 'schemas']

const listOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',', LONGEST_LIST)
    .map(name => attributeName(name.trim()))
    .filter(name => name !== '')

/** Whether an answer contains an attribute. */
export function shows({ attributes, excludedAttributes }: Chosen, name: string): boolean {
  const [wanted, left] = [listOf(attributes), listOf(excludedAttributes)]
  if (wanted.length > 0) return wanted.some(one => one === name || one.startsWith(`${name}.`))
  return !left.includes(name)
}

/** Returns the chosen parts of a resource. */
export function choose<T extends object>(resource: T, { attributes, excludedAttributes }: Chosen): Partial<T> {
  const [wanted, left] = [listOf(attributes), listOf(excludedAttributes)]
  if (wanted.length > 0) return pick(resource, wanted)
  return left.length > 0 ? omit(resource, left) : resource
}

function pick<T extends object>(resource: T, wanted: readonly string[]): Partial<T> {
  return mapEntries(resource, (name, value) => {
    if (ALWAYS.includes(name) || wanted.includes(name)) return value
    const inner = innerOf(name, wanted)
    return inner.length === 0 ? undefined : within(value, part => pick(part, inner))
  })
}

function omit<T extends object>(resource: T, left: readonly string[]): Partial<T> {
  return mapEntries(resource, (name, value) => {
    if (ALWAYS.includes(name)) return value
    if (left.includes(name)) return undefined
    const inner = innerOf(name, left)
    return inner.length === 0 ? value : within(value, part => omit(part, inner))
  })
}

const innerOf = (name: string, list: readonly string[]): string[] =>
  list.filter(one => one.startsWith(`${name}.`)).map(one => one.slice(name.length + 1))

const within = (value: unknown, change: (part: object) => object): unknown => {
  if (Array.isArray(value)) return value.map(part => change(part))
  return typeof value === 'object' && value !== null ? change(value) : value
}

function mapEntries<T extends object>(resource: T, change: (name: string, value: unknown) => unknown): Partial<T> {
  const entries = Object.entries(resource).map(([name, value]) => [name, change(name.toLowerCase(), value)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<T>
}
