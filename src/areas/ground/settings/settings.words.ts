// Describes the valid values of a setting, for messages, the help and the docs.
import { type SettingName, settingOf } from './settings.table.js'

/** The words that follow "must be" in a message. */
export function typeOf(name: SettingName): string {
  const schema = settingOf(name).schema as Shape
  const word = schema.type === 'array' ? `a list of ${valuesOf(schema.items) ?? 'texts'}` : wordOf(schema)
  return schema.nullable ? `${word}, or null` : word
}

interface Shape {
  readonly type?: string
  readonly items?: Shape
  readonly enum?: readonly unknown[]
  readonly nullable?: boolean
  readonly minimum?: number
  readonly maximum?: number
}

function wordOf(schema: Shape): string {
  const values = valuesOf(schema)
  if (values) return `one of ${values}`
  if (schema.type === 'integer') return `a whole number from ${schema.minimum} to ${schema.maximum}`
  return schema.type === 'boolean' ? 'true or false' : 'a text'
}

const valuesOf = (schema: Shape | undefined) =>
  schema?.enum?.filter(value => value !== null && value !== '' && value !== 'nil').join(', ')
