// Schemas that have a title become components of the document, and operations refer to them. The server itself validates
// and serialises with the whole schemas, so this code never runs for a request.
import { isDeepStrictEqual } from 'node:util'

export interface Schema {
  readonly title?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  /** What the schema means in this place; the description of a component says what it is in all places. */
  readonly 'x-meaning'?: string
  readonly [keyword: string]: unknown
}

export type Components = Map<string, Schema>

const NULL = 'null'

/** Returns the schema with references to `components` in place of all titled schemas. Throws when two with one title differ. */
export function referTo(components: Components, schema: Schema): Schema {
  const { title, 'x-meaning': meant, ...rest } = schema
  const whole = complete(referWithin(components, rest))
  if (title === undefined) return whole
  const nullable = whole.type?.includes(NULL) === true
  // Values are described where they are used: they explain themselves.
  const { description, ...values } = whole
  const meaning = meant ?? (whole.enum && description)
  const component = whole.enum ? values : whole
  add(components, title, nullable ? withoutNull(component) : component)
  const ref = { $ref: `#/components/schemas/${title}` }
  const use = nullable ? { anyOf: [ref, { type: NULL }] } : ref
  return meaning === undefined ? use : { ...use, description: meaning }
}

function add(components: Components, title: string, schema: Schema): void {
  const known = components.get(title)
  if (known && !isDeepStrictEqual(known, schema)) throw new Error(`two schemas have the title ${title}, and differ`)
  components.set(title, schema)
}

function referWithin(components: Components, schema: Schema): Schema {
  const refer = (inner: unknown) => referTo(components, inner as Schema)
  const within = (keyword: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (keyword === 'items' || keyword === 'additionalProperties') return refer(value)
    if (keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf') return Object.values(value).map(refer)
    if (keyword !== 'properties') return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, refer(inner)]))
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, within(keyword, value)]))
}

/** Gives values of an enum a type, and includes null among them where it is allowed: generators rely on both. */
function complete(schema: Schema): Schema {
  const { enum: values, type } = schema
  if (!values) return schema
  if (type === undefined) return { type: typeof values[0] === 'number' ? 'integer' : 'string', ...schema }
  return type.includes(NULL) && !values.includes(null) ? { ...schema, enum: [...values, null] } : schema
}

function withoutNull({ type, enum: values, ...rest }: Schema): Schema {
  const types = [type].flat().filter(name => name !== NULL)
  return {
    ...rest,
    type: types.length === 1 ? types[0] : types.filter(name => name !== undefined),
    ...(values && { enum: values.filter(value => value !== null) })
  }
}
