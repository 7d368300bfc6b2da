// Input arrives as text in queries and forms. This file converts it to the types of a schema and keeps only the
// declared keys, so that no handler sees an attribute that its schema does not declare. Values that do not fit stay
// unchanged; validation refuses them later.

export interface InputSchema {
  readonly type?: string
  readonly nullable?: boolean
  readonly properties?: { readonly [key: string]: InputSchema }
  readonly items?: InputSchema
  readonly enum?: readonly unknown[]
  readonly additionalProperties?: unknown
}

const YES = new Set(['true', 't', '1', 'on', 'yes'])
const NO = new Set(['false', 'f', '0', 'off', 'no', ''])

/** Returns `value` converted to the types of `schema`. */
export function coerce(value: unknown, schema: InputSchema): unknown {
  if (typeof value === 'string') return coerceText(value, schema)
  if (schema.type === 'object') return coerceObject(value, schema)
  if (schema.type === 'array') return coerceArray(isBlankList(value) ? [] : value, schema)
  if (schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  // JSON can contain numbers that JavaScript or a column cannot hold: 1e999 becomes infinite, and 1e300 counts as an
  // integer in JavaScript but fits no column.
  if (schema.type === 'integer' && typeof value === 'number' && !Number.isSafeInteger(value)) return String(value)
  if (schema.type === 'number' && typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (schema.type === 'boolean' && (value === 0 || value === 1)) return value === 1
  return value
}

function coerceText(text: string, schema: InputSchema): unknown {
  const numbers = schema.enum?.every(value => typeof value === 'number')
  switch (numbers ? 'integer' : schema.type) {
    case 'integer':
      // Not specified: an empty text is null where null is allowed, because a form has no other way to write it.
      if (text === '' && schema.nullable) return null
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text
    case 'number':
      return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
    case 'boolean':
      return coerceBoolean(text)
    case 'array':
      return coerceArray([text], schema)
    default:
      return text
  }
}

function coerceBoolean(text: string): unknown {
  const word = text.toLowerCase()
  if (YES.has(word)) return true
  return NO.has(word) ? false : text
}

/** Not specified: a single `a[]=` is the empty list, because a form has no other way to write one. */
const isBlankList = (value: unknown) => Array.isArray(value) && value.length === 1 && value[0] === ''

/** Not specified: a single value means a list of one, because clients send `scope=failed`. */
function coerceArray(value: unknown, schema: InputSchema): unknown {
  const { items } = schema
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return items ? list.map(item => coerce(item, items)) : list
}

function coerceObject(value: unknown, schema: InputSchema): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { properties } = schema
  if (!properties) return value
  const known: { [key: string]: unknown } = {}
  for (const key of Object.keys(properties)) {
    const inner = properties[key]
    const given = Object.hasOwn(value, key) ? (value as { [key: string]: unknown })[key] : undefined
    if (given === undefined || inner === undefined) continue
    // Not specified: null for an attribute that cannot be null means that the attribute was not given.
    if (given === null) {
      if (inner.nullable) known[key] = null
      continue
    }
    known[key] = coerce(given, inner)
  }
  return known
}
