// Builds JSON schemas, with the types of TypeBox. TypeBox itself has 370 files, which every process would load for
// these few functions: 0.13 s of processor time and 15 MB each.
import type { Static, TProperties, TSchema, Type as TypeBox } from 'typebox'

export type { Static, TSchema }

type Schema = Record<string, unknown>

/** The optional schemas. A copy of an optional schema is not optional, as in TypeBox. */
const optionals = new WeakSet<object>()

function optional(schema: Schema): Schema {
  const made = { ...schema }
  optionals.add(made)
  return made
}

function object(properties: TProperties, options: Schema = {}): Schema {
  const required = Object.keys(properties).filter(name => !optionals.has(properties[name] as TSchema))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

const ofType =
  (type: string) =>
  (options: Schema = {}): Schema => ({ type, ...options })

const builders = {
  Object: object,
  Array: (items: Schema, options: Schema = {}): Schema => ({ type: 'array', items, ...options }),
  String: ofType('string'),
  Integer: ofType('integer'),
  Number: ofType('number'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Unknown: (options: Schema = {}): Schema => ({ ...options }),
  Enum: (values: readonly unknown[], options: Schema = {}): Schema => ({ enum: [...values], ...options }),
  Union: (anyOf: readonly Schema[], options: Schema = {}): Schema => ({ anyOf, ...options }),
  /** The keys may be any text. */
  Record: (_key: Schema, value: Schema, options: Schema = {}): Schema => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options
  }),
  Unsafe: (schema: Schema): Schema => schema,
  Optional: optional,
  Partial: ({ properties }: { readonly properties: Record<string, Schema> }, options: Schema = {}): Schema => {
    const all = Object.entries(properties).map(([name, schema]) => [name, optional(schema)])
    return object(Object.fromEntries(all) as TProperties, options)
  }
}

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>
