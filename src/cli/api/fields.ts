// The fields of `gitstead api`: NAME=VALUE, for a query or a JSON body.
import { BadParameters } from '../../errors.js'
import { readTextFile } from '../input/text-file.js'

export interface Field {
  readonly name: string
  readonly value: unknown
}

/** Bytes of a file in a field. Larger files need --input. */
const LARGEST = 16 * 1024 * 1024

/** -f: the value is always text. Throws BadParameters. */
export function textField(given: string): Field {
  const at = given.indexOf('=')
  if (at < 1) throw problem(`a field must be NAME=VALUE (it is ${JSON.stringify(given)})`)
  return { name: given.slice(0, at), value: given.slice(at + 1) }
}

/** -F: true, false, null and whole numbers are JSON values; @FILE is the text of a file, @- that of standard input. */
export async function typedField(given: string): Promise<Field> {
  const { name, value } = textField(given) as Field & { readonly value: string }
  if (value.startsWith('@')) return { name, value: await readTextFile('--field', value.slice(1), LARGEST) }
  return { name, value: WORDS.has(value) || /^-?(0|[1-9]\d{0,14})$/.test(value) ? JSON.parse(value) : value }
}

const WORDS = new Set(['true', 'false', 'null'])

/** Returns the fields as query parameters, with their names unchanged. */
export const queryOf = (fields: readonly Field[]): [name: string, value: string][] =>
  fields.map(({ name, value }) => [name, value === null ? '' : String(value)])

interface Node {
  [name: string]: unknown
}
const node = (): Node => Object.create(null) as Node

/** Returns the fields as a JSON object: `a[b]=c` sets a key of a nested object, `a[]=c` appends to a list. Throws BadParameters. */
export function bodyOf(fields: readonly Field[]): object {
  const body = node()
  for (const { name, value } of fields) put(body, partsOf(name), value, name)
  return body
}

function partsOf(name: string): string[] {
  const [, first, rest] = /^([^[\]]+)((?:\[[^[\]]+\])*(?:\[\])?)$/.exec(name) ?? []
  if (first === undefined || rest === undefined) throw problem(`invalid field name: ${name}`)
  return [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part = '']) => part)]
}

function put(into: Node, [part = '', next, ...rest]: string[], value: unknown, name: string): void {
  const there = into[part]
  if (next === undefined) {
    if (there !== undefined) throw problem(`the field ${name} is given twice: for a list, use ${name}[]=VALUE`)
    into[part] = value
    return
  }
  if (next === '') {
    if (there !== undefined && !Array.isArray(there)) throw problem(`the field ${name} already has another value`)
    into[part] = [...(there ?? []), value]
    return
  }
  const object = there ?? node()
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    throw problem(`the field ${name} already has another value`)
  into[part] = object
  put(object as Node, [next, ...rest], value, name)
}

const problem = (text: string) => new BadParameters(text, text)
