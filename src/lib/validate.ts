// Checks values against a schema. It returns the parts of a problem; the server and the CLI turn them into sentences.
import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { coerce, type InputSchema } from './coerce.js'

// Loaded, and each schema compiled, when the first value is checked: most processes check only a few.
const load = () => createRequire(import.meta.url)('ajv') as typeof import('ajv')
let ajv: Ajv | undefined

export interface Wrong {
  /** Required attributes that are missing. */
  readonly missing: readonly string[]
  /** The first other attribute that is wrong (empty for the value itself), and its problem, such as `is invalid`. */
  readonly name: string
  readonly problem: string
  /** The value has the right type, but is longer, greater or smaller than allowed. */
  readonly limit: boolean
}

export type Validated = { readonly value: unknown; readonly wrong?: undefined } | { readonly wrong: Wrong }

/** Returns a check against `schema`. The check first converts values to the types of the schema, unless `exact`. */
export function validator(schema: InputSchema, { exact = false } = {}): (input: unknown) => Validated {
  let validate: ValidateFunction | undefined
  return input => {
    ajv ??= new (load().Ajv)({ strict: false, allErrors: true, validateFormats: false })
    validate ??= ajv.compile(schema as object)
    const value = exact ? input : coerce(input, schema)
    return validate(value) ? { value } : { wrong: describe(validate.errors ?? []) }
  }
}

function describe(found: ErrorObject[]): Wrong {
  const missing = found.filter(({ keyword }) => keyword === 'required').map(({ params }) => params.missingProperty)
  const error = found[0]
  // For a problem with an item of a list, the name of the list is returned.
  const path = error?.instancePath.split('/').filter(part => part !== '' && !/^\d+$/.test(part)) ?? []
  return { missing: missing.map(String), name: path.join('.'), problem: problemOf(error), limit: isLimit(error) }
}

const LIMITS = ['maxLength', 'minimum', 'maximum']

const isLimit = (error: ErrorObject | undefined): boolean => error !== undefined && LIMITS.includes(error.keyword)

function problemOf(error: ErrorObject | undefined): string {
  switch (error?.keyword) {
    case 'enum':
      return 'does not have a valid value'
    case 'minLength':
      return 'is empty'
    case 'maxLength':
      return `is too long (maximum is ${error.params.limit} characters)`
    case 'minimum':
      return `must be greater than or equal to ${error.params.limit}`
    case 'maximum':
      return `must be less than or equal to ${error.params.limit}`
    default:
      return 'is invalid'
  }
}
